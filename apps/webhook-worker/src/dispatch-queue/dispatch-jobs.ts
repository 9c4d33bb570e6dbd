import { reconnectDelayMs, redisOptions } from '@fulfilment/http-service/redis';
import {
  endAfter,
  type Logger,
  LOGGER,
  recordedTrace,
  type RedisSettings,
  startChildOf,
  WarningLimit,
} from '@fulfilment/runtime';
import { type OnApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { type BulkJobOptions, Queue, Worker } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import type { DaySpan } from './day-span.rules.js';
import type { DueSubscription } from './lane-queue.js';
import { type Lane, lanes } from './lanes.rules.js';

/** Maximum number of jobs of a lane that wait in a process for its dispatcher. */
const maxTakenJobs = 100;
/** Deliveries of a subscription that become due in the same bucket share one delayed job. */
const bucketMs = 100;
// Another process takes over the jobs of a killed one within lockMs + stalledIntervalMs.
const lockMs = 10_000;
const stalledIntervalMs = 5_000;
const maxStalledCount = 1_000_000; // an interrupted job never fails
const retryDelayMs = 1_000;

interface JobData {
  readonly subscriptionId: string;
  readonly days?: DaySpan | undefined;
  /** The trace of the delivery that is to be retried. */
  readonly traceparent?: string | null | undefined;
}

/**
 * Wake-ups as BullMQ jobs: those that are due later, and those that any process with free capacity may take.
 * A job ends when a dispatcher takes its subscription. The deliveries themselves are in PostgreSQL only.
 */
@Injectable()
export class DispatchJobs implements OnApplicationShutdown {
  protected readonly addTimeoutMs: number = 1_000; // a test overrides it
  private addingConnection: Redis | undefined;
  private takingConnection: Redis | undefined;
  private readonly queues = new Map<Lane, Queue<JobData>>();
  private readonly workers: Worker<JobData>[] = [];
  private readonly warnings = new WarningLimit();
  private stopping = false;

  constructor(
    @Inject(CONFIG)
    private readonly config: RedisSettings & Pick<WebhookWorkerSettings, 'WEBHOOK_QUEUE_PREFIX'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * @param take resolves when this process has taken the subscription, or has left it to others; if it
   *   rejects, the wake-up is lost, and the reconciler replaces it
   */
  start(take: (due: DueSubscription) => Promise<void>): void {
    const prefix = this.config.WEBHOOK_QUEUE_PREFIX;
    // A wake-up that Redis does not accept at once is not needed later: the reconciler replaces it.
    const adding = this.connect({
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      commandTimeout: this.addTimeoutMs,
    });
    const taking = this.connect({ maxRetriesPerRequest: null }); // a worker waits until Redis is back
    this.addingConnection = adding;
    this.takingConnection = taking;
    for (const lane of lanes) {
      const name = `dispatch-${lane}`;
      const queue = new Queue<JobData>(name, { connection: adding, prefix });
      const worker = new Worker<JobData>(
        name,
        ({ data, id }) =>
          inJobSpan(name, { id, ...data }, () =>
            take({ subscriptionId: data.subscriptionId, days: data.days, lane }),
          ),
        {
          connection: taking,
          prefix,
          concurrency: maxTakenJobs,
          lockDuration: lockMs,
          stalledInterval: stalledIntervalMs,
          maxStalledCount,
          runRetryDelay: retryDelayMs,
        },
      );
      queue.on('error', (error) => this.warn(error));
      worker.on('error', (error) => this.warn(error));
      // A job fails if this process is stopping and could not add the job that replaces it.
      worker.on('failed', (_job, error) => this.warn(error));
      this.queues.set(lane, queue);
      this.workers.push(worker);
    }
  }

  /** Whether jobs can be added. */
  get isConnected(): boolean {
    return this.addingConnection?.status === 'ready';
  }

  /** Adds a job for each subscription. Rejects when Redis does not accept the jobs at once. */
  async add(due: readonly DueSubscription[]): Promise<void> {
    if (!this.isConnected) throw new Error('Redis is not connected.');
    await Promise.all(
      lanes.map(async (lane) => {
        const jobs = due.filter((subscription) => subscription.lane === lane).map(jobOf);
        if (jobs.length > 0) await this.queues.get(lane)?.addBulk(jobs);
      }),
    );
  }

  /** Takes no more jobs. */
  async stopWorkers(): Promise<void> {
    const force = this.takingConnection?.status !== 'ready'; // without a connection, `close` waits for Redis
    await Promise.allSettled(this.workers.map((worker) => worker.close(force)));
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await Promise.allSettled([...this.queues.values()].map((queue) => queue.close()));
    this.addingConnection?.disconnect();
    this.takingConnection?.disconnect();
  }

  private connect(options: RedisOptions): Redis {
    const connection = new Redis(this.config.REDIS_URL, {
      ...redisOptions(this.config),
      ...options,
      retryStrategy: (attempt) => (this.stopping ? null : reconnectDelayMs(attempt)),
    });
    connection.on('error', (error) => this.warn(error));
    return connection;
  }

  private warn(error: unknown): void {
    if (this.warnings.allows())
      this.logger.warn({ error }, 'Redis does not respond; due deliveries are read from PostgreSQL.');
  }
}

/** The span of a job lasts until a dispatcher takes the subscription. */
function inJobSpan(
  queue: string,
  { id, traceparent }: { readonly id: string | undefined; readonly traceparent?: string | null | undefined },
  work: () => Promise<void>,
): Promise<void> {
  const span = startChildOf(traceparent, {
    name: `process ${queue}`,
    kind: 'consumer',
    attributes: {
      'messaging.system': 'bullmq',
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.destination.name': queue,
      ...(id !== undefined && { 'messaging.message.id': id }),
    },
  });
  return span === undefined ? work() : endAfter(span, work);
}

/**
 * Returns the job of a wake-up. Wake-ups of a subscription that are due now share one waiting job, and one
 * more while a job is being processed; their days and traces may differ, so the job has neither.
 */
function jobOf({ subscriptionId, days, delayMs = 0, traceparent }: DueSubscription) {
  const options: BulkJobOptions = { removeOnComplete: true, removeOnFail: true };
  if (delayMs <= 0) {
    const deduplication = { id: subscriptionId, keepLastIfActive: true };
    return { name: 'dispatch', data: { subscriptionId }, opts: { ...options, deduplication } };
  }
  const nowMs = Date.now();
  const bucket = Math.ceil((nowMs + delayMs) / bucketMs);
  const deduplication = { id: [subscriptionId, bucket, days?.from, days?.to].join(' ') };
  const delay = bucket * bucketMs - nowMs;
  const trace = recordedTrace(traceparent) === undefined ? {} : { traceparent };
  return {
    name: 'dispatch',
    data: { subscriptionId, days, ...trace },
    opts: { ...options, delay, deduplication },
  };
}
