import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { type Lane, lanes } from './lanes.rules.js';

const addWithinMs = 1_000;

/** What a job of BullMQ holds. */
export interface DrainJobData {
  readonly subscriptionId: string;
}

export function drainQueueName(lane: Lane): string {
  return `drain-${lane}`;
}

/**
 * The BullMQ queues of "drain subscription S": one job for a subscription, however many deliveries it has due. So Redis holds as many jobs as
 * subscriptions are busy, and nothing that PostgreSQL does not know.
 */
@Injectable()
export class DrainQueues {
  private readonly connection: Redis;
  private readonly queues: ReadonlyMap<Lane, Queue<DrainJobData>>;
  private stopping = false;

  constructor(@Inject(CONFIG) config: WebhookWorkerSettings, @Inject(LOGGER) logger: Logger) {
    this.connection = new Redis(config.REDIS_URL, {
      // A wake-up that Redis does not take at once is drained here instead.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      connectTimeout: 3_000,
      retryStrategy: (attempt) => (this.stopping ? null : Math.min(100 * attempt, 2_000)),
    });
    this.connection.on('error', () => undefined); // the readiness probe and DrainJobs tell of it
    this.queues = new Map(lanes.map((lane) => [lane, this.open(lane, config.WEBHOOK_QUEUE_PREFIX, logger)]));
  }

  /** Rejects when Redis does not take them at once. */
  async add(drains: readonly { readonly subscriptionId: string; readonly lane: Lane }[]): Promise<void> {
    if (this.connection.status !== 'ready') throw new Error('Redis is not connected.');
    const adding = Promise.all(
      lanes.map((lane) =>
        this.addToLane(
          lane,
          drains.filter((drain) => drain.lane === lane),
        ),
      ),
    );
    const timer = new AbortController();
    const late = delay(addWithinMs, undefined, { signal: timer.signal }).then(() => {
      throw new Error('Redis does not answer.');
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

  private open(lane: Lane, prefix: string, logger: Logger): Queue<DrainJobData> {
    const queue = new Queue<DrainJobData>(drainQueueName(lane), { connection: this.connection, prefix });
    queue.on('error', (error) => logger.debug({ error, lane }, 'A drain queue reported an error.'));
    return queue;
  }

  private async addToLane(lane: Lane, drains: readonly DrainJobData[]): Promise<void> {
    if (drains.length === 0) return;
    await this.queues.get(lane)?.addBulk(
      drains.map(({ subscriptionId }) => ({
        name: 'drain',
        data: { subscriptionId },
        opts: {
          removeOnComplete: true,
          removeOnFail: true,
          // One job a subscription; a wake-up during its run makes it run once more.
          deduplication: { id: subscriptionId, keepLastIfActive: true },
        },
      })),
    );
  }
}
