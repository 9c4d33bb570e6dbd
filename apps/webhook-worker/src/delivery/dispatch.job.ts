import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { type Job, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { type DrainJobData, drainQueueName } from './drain-queues.js';
import { DrainSubscription } from './drain-subscription.js';
import { drainsAtATime, type Lane, lanes } from './lanes.rules.js';
import { WakeUps } from './wake-ups.js';

// A killed process's subscription is taken over within lock + interval. A run that lost its lock does no harm: leases decide.
const lockMs = 10_000;
const lookForStalledEveryMs = 5_000;
const mostStalls = 1_000_000; // a drain never fails for having been interrupted
const tryAgainAfterMs = 1_000;
const warnEveryMs = 10_000;

/** The BullMQ edge: a job → one turn of a drain. */
@Injectable()
export class DrainJobs {
  private readonly connection: Redis;
  private readonly workers: readonly Worker<DrainJobData>[];
  private warnedAtMs = -Infinity;
  private stopping = false;

  constructor(
    private readonly drain: DrainSubscription,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) config: WebhookWorkerSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.connection = new Redis(config.REDIS_URL, {
      maxRetriesPerRequest: null, // a worker waits for Redis to come back
      retryStrategy: (attempt) => (this.stopping ? null : Math.min(100 * attempt, 2_000)),
      lazyConnect: true,
    });
    this.connection.on('error', (error) => this.warn(error));
    this.workers = lanes.map((lane) => this.open(lane, config.WEBHOOK_QUEUE_PREFIX));
  }

  start(): void {
    for (const worker of this.workers) worker.run().catch((error: unknown) => this.warn(error));
  }

  /** Ends when the drains in hand have. */
  async stop(): Promise<void> {
    this.stopping = true;
    const redisIsHere = this.connection.status === 'ready';
    await Promise.allSettled(this.workers.map((worker) => worker.close(!redisIsHere)));
    this.connection.disconnect();
  }

  private open(lane: Lane, prefix: string): Worker<DrainJobData> {
    const worker = new Worker<DrainJobData>(drainQueueName(lane), (job) => this.run(job, lane), {
      connection: this.connection,
      prefix,
      autorun: false,
      concurrency: drainsAtATime[lane],
      lockDuration: lockMs,
      stalledInterval: lookForStalledEveryMs,
      maxStalledCount: mostStalls,
      runRetryDelay: tryAgainAfterMs,
    });
    worker.on('error', (error) => this.warn(error));
    return worker;
  }

  private async run(job: Job<DrainJobData>, lane: Lane): Promise<void> {
    const { subscriptionId } = job.data;
    const more = await this.drain.run({ subscriptionId, lane });
    if (more !== undefined) this.wakeUps.enqueue([more]); // behind the others
  }

  private warn(error: unknown): void {
    if (performance.now() - this.warnedAtMs < warnEveryMs) return;
    this.warnedAtMs = performance.now();
    this.logger.warn(
      { error },
      'Redis is not answering the delivery workers; due deliveries are found in PostgreSQL.',
    );
  }
}
