import { BACKGROUND_DATABASE } from '@fulfilment/database';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { RedisConnection } from '@fulfilment/http-service/redis';
import { Messaging } from '@fulfilment/messaging';
import { BackgroundTask, CONFIG, createLogger, LOGGER } from '@fulfilment/runtime';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { DatabasePools } from './database-pools.js';
import { ServiceLifecycle } from './service-lifecycle.js';

/** A task whose start fails with these errors, one after another, and then succeeds. */
class FailingTask extends BackgroundTask {
  constructor(
    private readonly errors: Error[],
    private readonly started: string[],
  ) {
    super();
  }

  start(): Promise<void> {
    const error = this.errors.shift();
    this.started.push(error?.message ?? 'started');
    return error === undefined ? Promise.resolve() : Promise.reject(error);
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}

/** Starts a task that fails with these errors, and a second one. Returns what happened, in order. */
async function startTasks(errors: Error[]): Promise<string[]> {
  const started: string[] = [];
  const unused = [DatabasePools, RedisConnection, Messaging, BACKGROUND_DATABASE, CONFIG];
  const module = await Test.createTestingModule({
    imports: [DiscoveryModule],
    providers: [
      ...unused.map((provide) => ({ provide, useValue: {} })),
      { provide: LOGGER, useValue: createLogger('test', 'silent') },
      { provide: 'first', useValue: new FailingTask(errors, started) },
      { provide: 'second', useValue: new FailingTask([], started) },
      ServiceLifecycle,
    ],
  }).compile();
  await module.get(ServiceLifecycle).startTasks();
  return started;
}

describe('the start of background tasks', () => {
  it('is retried while a dependency is unavailable, before the next task starts', async () => {
    const down = () => new DependencyUnavailable('down');
    expect(await startTasks([down(), down()])).toEqual(['down', 'down', 'started', 'started']);
  });

  it('fails with any other error', async () => {
    await expect(startTasks([new Error('a mistake')])).rejects.toThrow('a mistake');
  });
});
