import { startHttp } from '@fulfilment/http-service';
import {
  collectDefaultMetrics,
  LOGGER,
  type Logger,
  relaxedServiceSettings,
  type RelaxedSetting,
  reportRelaxedSettings,
  startTracing,
  type Tracing,
} from '@fulfilment/runtime';
import type { DynamicModule, INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SERVICE, type Service } from './service.js';
import { ServiceLifecycle } from './service-lifecycle.js';
import { exitIfUnsuitable } from './exit-if-unsuitable.js';

const shutdownTimeoutMs = 20_000;

/**
 * Starts a service, which runs until SIGTERM or SIGINT.
 * @param relaxed active relaxed settings that only this service has
 */
export async function runService(module: DynamicModule, relaxed: readonly RelaxedSetting[]): Promise<void> {
  collectDefaultMetrics();
  const app = await startHttp((adapter, options) => NestFactory.create(module, adapter, options));
  const logger: Logger = app.get(LOGGER);
  const { name, config }: Service = app.get(SERVICE);
  const tracing = await startTracing(name, config, logger);
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => void stop(app, tracing, signal, logger));
  reportRelaxedSettings([...relaxedServiceSettings(config), ...relaxed], logger);
  await exitIfUnsuitable(logger, () => app.get(ServiceLifecycle).start());
}

async function stop(app: INestApplication, tracing: Tracing, signal: string, logger: Logger): Promise<void> {
  logger.info({ signal }, 'Stopping.');
  setTimeout(() => {
    logger.error('Shutdown timed out; exiting with open connections or work.');
    process.exit(1);
  }, shutdownTimeoutMs).unref();
  await app.close();
  await tracing.stop(); // last, for the spans of the work that the stop waited for
  process.exit(0);
}
