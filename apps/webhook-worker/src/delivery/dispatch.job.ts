import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { type Job, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { type DispatchJobData, dispatchQueueName } from './dispatch-queues.js';
import { DispatchSubscription } from './dispatch-subscription.js';
import { maxConcurrentDispatches, type Lane, lanes } from './lanes.rules.js';
import { DispatchScheduler } from './dispatch-scheduler.js';

// Another process takes over the job of a killed one within lockMs + stalledIntervalMs. A job that lost its
// lock and still runs does no harm, since leases decide who sends a delivery.
const lockMs = 10_000;
const stalledIntervalMs = 5_000;
const maxStalledCount = 1_000_000; // an interrupted job never fails
const retryDelayMs = 1_000;
const warnIntervalMs = 10_000;

/** BullMQ workers: each job runs one time slice of a subscription. */
@Injectable()
export class DispatchJobs {
  private readonly connection: Redis;
  private readonly workers: readonly Worker<DispatchJobData>[];
  private warnedAtMs = -Infinity;
  private stopping = false;

  constructor(
    private readonly dispatch: DispatchSubscription,
    private readonly scheduler: DispatchScheduler,
    @Inject(CONFIG) config: WebhookWorkerSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.connection = new Redis(config.REDIS_URL, {
      maxRetriesPerRequest: null, // a worker waits until Redis is back
      retryStrategy: (attempt) => (this.stopping ? null : Math.min(100 * attempt, 2_000)),
      lazyConnect: true,
    });
    this.connection.on('error', (error) => this.warn(error));
    this.workers = lanes.map((lane) => this.open(lane, config.WEBHOOK_QUEUE_PREFIX));
  }

  start(): void {
    for (const worker of this.workers) worker.run().catch((error: unknown) => this.warn(error));
  }

  /** Resolves when the running jobs have ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    const isConnected = this.connection.status === 'ready';
    await Promise.allSettled(this.workers.map((worker) => worker.close(!isConnected)));
    this.connection.disconnect();
  }

  private open(lane: Lane, prefix: string): Worker<DispatchJobData> {
    const worker = new Worker<DispatchJobData>(dispatchQueueName(lane), (job) => this.run(job, lane), {
      connection: this.connection,
      prefix,
      autorun: false,
      concurrency: maxConcurrentDispatches[lane],
      lockDuration: lockMs,
      stalledInterval: stalledIntervalMs,
      maxStalledCount,
      runRetryDelay: retryDelayMs,
    });
    worker.on('error', (error) => this.warn(error));
    return worker;
  }

  private async run(job: Job<DispatchJobData>, lane: Lane): Promise<void> {
    const { subscriptionId } = job.data;
    const remaining = await this.dispatch.run({ subscriptionId, lane });
    if (remaining !== undefined) this.scheduler.enqueue([remaining]); // behind the others
  }

  private warn(error: unknown): void {
    if (performance.now() - this.warnedAtMs < warnIntervalMs) return;
    this.warnedAtMs = performance.now();
    this.logger.warn(
      { error },
      'Redis does not respond to the delivery workers; due deliveries are read from PostgreSQL.',
    );
  }
}
