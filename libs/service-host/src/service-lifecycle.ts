import { BACKGROUND_DATABASE, Database } from '@fulfilment/database';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { RedisConnection } from '@fulfilment/http-service/redis';
import { MessageConsumer, messageOutcomes, Messaging } from '@fulfilment/messaging';
import {
  BackgroundTask,
  CONFIG,
  type InternalServer,
  LOGGER,
  type Logger,
  type ServiceSettings,
  startInternalServer,
} from '@fulfilment/runtime';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabasePools } from './database-pools.js';

const retryDelayMs = 500;

/** Starts everything except HTTP, and stops everything, in order (ADR 36). */
@Injectable()
export class ServiceLifecycle implements BeforeApplicationShutdown, OnApplicationShutdown {
  private internalServer: InternalServer | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly http: HttpAdapterHost,
    private readonly pools: DatabasePools,
    private readonly redis: RedisConnection,
    private readonly messaging: Messaging,
    @Inject(BACKGROUND_DATABASE) private readonly background: Database,
    @Inject(CONFIG) private readonly config: ServiceSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Opens the internal port, connects to the database, however long that takes, then starts background tasks,
   * then consumes messages. The HTTP port is already open.
   */
  async start(): Promise<void> {
    const { INTERNAL_HOST: host, INTERNAL_PORT: port } = this.config;
    const routes = [messageOutcomes(this.background)];
    this.internalServer = await startInternalServer({ host, port, routes, logger: this.logger });
    await this.pools.connect();
    await this.startTasks();
    this.startMessaging();
    this.logger.info('Ready.');
  }

  /** A part of `start`. Tests call it separately. */
  async startTasks(): Promise<void> {
    for (const task of this.providers(BackgroundTask)) await this.startTask(task);
  }

  /** A part of `start`: relays the outbox and consumes messages. Tests call it separately. */
  startMessaging(): void {
    for (const consumer of this.providers(MessageConsumer)) this.messaging.consume(consumer);
    this.messaging.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopTasks({ beforeHttp: true });
    await this.tryStop('http', () => Promise.resolve(this.http.httpAdapter.close()));
    await this.tryStop('messaging', () => this.messaging.stop());
    await this.stopTasks({ beforeHttp: false });
  }

  /** Other providers close their own connections in the same hook. */
  async onApplicationShutdown(): Promise<void> {
    await this.tryStop('internal port', () => this.internalServer?.close());
    await this.tryStop('redis', () => this.redis.stop());
    await this.tryStop('postgres', () => this.pools.close());
  }

  /** An outage of a store must not end the process. */
  private async startTask(task: BackgroundTask): Promise<void> {
    for (;;) {
      try {
        await task.start();
        return;
      } catch (error) {
        if (!(error instanceof DependencyUnavailable)) throw error;
        this.logger.warn({ error, task: task.constructor.name }, 'A task could not start; will retry.');
        await delay(retryDelayMs);
      }
    }
  }

  private async stopTasks({ beforeHttp }: { readonly beforeHttp: boolean }): Promise<void> {
    const tasks = this.providers(BackgroundTask).filter((task) => task.stopsBeforeHttp === beforeHttp);
    await Promise.all(tasks.map((task) => this.tryStop(task.constructor.name, () => task.stop())));
  }

  private async tryStop(step: string, stop: () => Promise<unknown> | undefined): Promise<void> {
    try {
      await stop();
    } catch (error) {
      this.logger.error({ error, step }, 'A component did not stop cleanly.');
    }
  }

  /** Returns the providers of all modules that are instances of a class. */
  private providers<Instance>(type: abstract new (...args: never[]) => Instance): Instance[] {
    const instances = this.discovery
      .getProviders()
      .flatMap(({ instance }: { instance: unknown }) => (instance instanceof type ? [instance] : []));
    return [...new Set(instances)];
  }
}
