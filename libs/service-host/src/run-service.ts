import { startHttp } from '@fulfilment/http-service';
import {
  collectProcessMetrics,
  CONFIG,
  LOGGER,
  type Logger,
  relaxedServiceSettings,
  type RelaxedSetting,
  reportRelaxedSettings,
  type ServiceSettings,
} from '@fulfilment/runtime';
import type { DynamicModule, INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ServiceLifecycle } from './service-lifecycle.js';
import { exitIfUnsuitable } from './unsuitable-connection.js';

const shutdownTimeoutMs = 20_000;

/**
 * Runs a service until SIGTERM or SIGINT.
 * @param relaxed the relaxed ones of the service's own settings
 */
export async function runService(
  module: DynamicModule,
  relaxed: readonly RelaxedSetting[] = [],
): Promise<void> {
  collectProcessMetrics();
  const app = await startHttp((adapter, options) => NestFactory.create(module, adapter, options));
  const logger: Logger = app.get(LOGGER);
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => void stop(app, signal, logger));
  reportRelaxedSettings([...relaxedServiceSettings(app.get<ServiceSettings>(CONFIG)), ...relaxed], logger);
  await exitIfUnsuitable(logger, () => app.get(ServiceLifecycle).start());
}

async function stop(app: INestApplication, signal: string, logger: Logger): Promise<void> {
  logger.info({ signal }, 'Stopping.');
  setTimeout(() => {
    logger.error('Shutdown timed out; exiting with open connections or work.');
    process.exit(1);
  }, shutdownTimeoutMs).unref();
  await app.close();
  process.exit(0);
}
