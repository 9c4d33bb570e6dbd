import type { Logger } from '@fulfilment/runtime';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { CreatorApiSettings } from '../config.js';

export const uploadQueueName = 'track-uploads';

const lastPriority = 2_097_152; // BullMQ's

export interface UploadJob {
  readonly uploadId: string;
}

/** An upload, and the name of its job. */
export interface QueuedUpload {
  readonly id: string;
  readonly workflow_id: string;
  /** Which of its organisation's that are not over it is, from 1: the first of each go before the second of any. */
  readonly place: number;
}

/**
 * The BullMQ queue of uploads to work on. A job is a reminder that may be lost or come twice: what is to be done stands in PostgreSQL, and
 * its lease decides who does it.
 */
export class UploadQueue {
  private readonly connection: Redis;
  private readonly queue: Queue<UploadJob>;
  private stopping = false;

  constructor(
    config: Pick<CreatorApiSettings, 'REDIS_URL' | 'TRACK_UPLOAD_QUEUE_PREFIX'>,
    private readonly logger: Logger,
  ) {
    this.connection = new Redis(config.REDIS_URL, {
      // A reminder that cannot be left at once is not worth waiting for.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      commandTimeout: 2_000,
      connectTimeout: 3_000,
      retryStrategy: (attempt) => (this.stopping ? null : Math.min(100 * attempt, 2_000)),
    });
    this.connection.on('error', () => undefined); // the readiness probe and the worker's log tell of it
    this.queue = new Queue<UploadJob>(uploadQueueName, {
      connection: this.connection,
      prefix: config.TRACK_UPLOAD_QUEUE_PREFIX,
    });
    this.queue.on('error', (error) => logger.debug({ error }, 'The track upload queue reported an error.'));
  }

  /** One job an upload, however often it is added. Rejects when Redis does not take them at once. */
  async add(uploads: readonly QueuedUpload[]): Promise<void> {
    this.mustBeConnected();
    await this.queue.addBulk(
      uploads.map(({ id, workflow_id: jobId, place }) => ({
        name: 'process',
        data: { uploadId: id },
        opts: { jobId, priority: Math.min(place, lastPriority), removeOnComplete: true, removeOnFail: true },
      })),
    );
  }

  /** Adds those that Redis does not know. Answers how many. Rejects as `add` does. */
  async addMissing(uploads: readonly QueuedUpload[]): Promise<number> {
    this.mustBeConnected();
    const known = await Promise.all(
      uploads.map(({ workflow_id: jobId }) => this.connection.exists(this.queue.toKey(jobId))),
    );
    const missing = uploads.filter((_, index) => known[index] === 0);
    if (missing.length > 0) await this.add(missing);
    return missing.length;
  }

  /** What Redis does not take now is found again in PostgreSQL. */
  addSoon(upload: QueuedUpload): void {
    this.add([upload]).catch((error: unknown) => {
      this.logger.warn(
        { error, upload_id: upload.id },
        'A track upload could not be added to the Redis queue; the finder will add it later.',
      );
    });
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.allSettled([this.queue.close()]);
    this.connection.disconnect();
  }

  private mustBeConnected(): void {
    if (this.connection.status !== 'ready') throw new Error('Redis is not connected.');
  }
}
