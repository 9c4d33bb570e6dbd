import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { type Lane, lanes } from './lanes.rules.js';

const addTimeoutMs = 1_000;

/** Data of a BullMQ job. */
export interface DispatchJobData {
  readonly subscriptionId: string;
}

export function dispatchQueueName(lane: Lane): string {
  return `drain-${lane}`;
}

/**
 * BullMQ queues with one job per subscription to dispatch, however many deliveries it has due. So Redis holds
 * at most one job per busy subscription, and no data that PostgreSQL does not have.
 */
@Injectable()
export class DispatchQueues {
  private readonly connection: Redis;
  private readonly queues: ReadonlyMap<Lane, Queue<DispatchJobData>>;
  private stopping = false;

  constructor(@Inject(CONFIG) config: WebhookWorkerSettings, @Inject(LOGGER) logger: Logger) {
    this.connection = new Redis(config.REDIS_URL, {
      // If Redis does not accept a wake-up at once, this process dispatches the subscription.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      connectTimeout: 3_000,
      retryStrategy: (attempt) => (this.stopping ? null : Math.min(100 * attempt, 2_000)),
    });
    this.connection.on('error', () => undefined); // the readiness probe and DispatchJobs report it
    this.queues = new Map(lanes.map((lane) => [lane, this.open(lane, config.WEBHOOK_QUEUE_PREFIX, logger)]));
  }

  /** Rejects when Redis does not accept the jobs within a second. */
  async add(
    subscriptions: readonly { readonly subscriptionId: string; readonly lane: Lane }[],
  ): Promise<void> {
    if (this.connection.status !== 'ready') throw new Error('Redis is not connected.');
    const adding = Promise.all(
      lanes.map((lane) =>
        this.addToLane(
          lane,
          subscriptions.filter((subscription) => subscription.lane === lane),
        ),
      ),
    );
    const timer = new AbortController();
    const late = delay(addTimeoutMs, undefined, { signal: timer.signal }).then(() => {
      throw new Error('Redis does not respond.');
    });
    adding.catch(() => undefined);
    try {
      await Promise.race([adding, late]);
    } finally {
      timer.abort();
      late.catch(() => undefined);
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.allSettled([...this.queues.values()].map((queue) => queue.close()));
    this.connection.disconnect();
  }

  private open(lane: Lane, prefix: string, logger: Logger): Queue<DispatchJobData> {
    const queue = new Queue<DispatchJobData>(dispatchQueueName(lane), {
      connection: this.connection,
      prefix,
    });
    queue.on('error', (error) => logger.debug({ error, lane }, 'A delivery queue reported an error.'));
    return queue;
  }

  private async addToLane(lane: Lane, subscriptions: readonly DispatchJobData[]): Promise<void> {
    if (subscriptions.length === 0) return;
    await this.queues.get(lane)?.addBulk(
      subscriptions.map(({ subscriptionId }) => ({
        name: 'drain',
        data: { subscriptionId },
        opts: {
          removeOnComplete: true,
          removeOnFail: true,
          // One job per subscription; a wake-up during its run makes it run once more.
          deduplication: { id: subscriptionId, keepLastIfActive: true },
        },
      })),
    );
  }
}
