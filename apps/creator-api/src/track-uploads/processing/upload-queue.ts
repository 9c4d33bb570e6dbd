import { reconnectDelayMs, redisOptions } from '@fulfilment/http-service/redis';
import { LOGGER, type Logger, type RedisSettings } from '@fulfilment/runtime';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { CONFIG, type CreatorApiSettings } from '../../config.js';

export const uploadQueueName = 'track-uploads';

/** BullMQ's maximum; 1 is processed first. */
const maxPriority = 2 ** 21 - 1;

export interface UploadJob {
  readonly uploadId: string;
}

/** An upload and the id of its BullMQ job (`workflow_id` in the table and the API). */
export interface QueuedUpload {
  readonly id: string;
  readonly jobId: string;
  /** Position among the organisation's open uploads, from 1. Lower ranks are first, for fairness. */
  readonly rank: number;
}

/**
 * The BullMQ queue of uploads to process. A job is only a hint that may be lost or delivered twice:
 * PostgreSQL holds the state of an upload, and a lease decides which process works on it.
 */
@Injectable()
export class UploadQueue implements OnApplicationShutdown {
  private readonly connection: Redis;
  private readonly queue: Queue<UploadJob>;
  private stopping = false;

  constructor(
    @Inject(CONFIG) config: RedisSettings & Pick<CreatorApiSettings, 'TRACK_UPLOAD_QUEUE_PREFIX'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.connection = new Redis(config.REDIS_URL, {
      ...redisOptions(config),
      // Commands fail fast: `uploadRequeueLoop` adds the job later.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      commandTimeout: 2_000,
      retryStrategy: (attempt) => (this.stopping ? null : reconnectDelayMs(attempt)),
    });
    this.connection.on('error', () => undefined); // the readiness probe and the worker's log report it
    this.queue = new Queue<UploadJob>(uploadQueueName, {
      connection: this.connection,
      prefix: config.TRACK_UPLOAD_QUEUE_PREFIX,
    });
    this.queue.on('error', (error) => logger.debug({ error }, 'The track upload queue reported an error.'));
  }

  /** Adds a job for each upload that has none. Rejects when Redis does not accept the jobs immediately. */
  async add(uploads: readonly QueuedUpload[]): Promise<void> {
    // BullMQ would wait for the connection.
    if (this.connection.status !== 'ready') throw new Error('Redis is not connected.');
    await this.queue.addBulk(
      uploads.map(({ id, jobId, rank }) => ({
        name: 'process',
        data: { uploadId: id },
        opts: { jobId, priority: Math.min(rank, maxPriority), removeOnComplete: true, removeOnFail: true },
      })),
    );
  }

  /** Adds the uploads that have no job and returns their number. Rejects as `add` does. */
  async addMissing(uploads: readonly QueuedUpload[]): Promise<number> {
    const known = await Promise.all(
      uploads.map(({ jobId }) => this.connection.exists(this.queue.toKey(jobId))),
    );
    const missing = uploads.filter((_, index) => known[index] === 0);
    if (missing.length > 0) await this.add(missing);
    return missing.length;
  }

  /** Adds a job without waiting. If Redis does not accept it, `uploadRequeueLoop` adds it later. */
  addInBackground(upload: QueuedUpload): void {
    this.add([upload]).catch((error: unknown) => {
      this.logger.warn(
        { error, upload_id: upload.id },
        'A track upload could not be added to the Redis queue; it will be added later.',
      );
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await Promise.allSettled([this.queue.close()]);
    this.connection.disconnect();
  }
}
