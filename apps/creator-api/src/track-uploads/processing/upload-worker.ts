import { reconnectDelayMs, redisOptions } from '@fulfilment/http-service/redis';
import { type Logger, type RedisSettings, WarningLimit } from '@fulfilment/runtime';
import { DelayedError, type Job, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { CreatorApiSettings } from '../../config.js';
import type { ProcessUpload } from './process-upload.js';
import { type UploadJob, uploadQueueName } from './upload-queue.js';

// Another worker takes over the job of a killed process within the sum of these two times. A lost lock is
// harmless, since leases decide which process works on an upload.
const lockMs = 10_000;
const stalledCheckIntervalMs = 5_000;
const maxStalledCount = 1_000_000; // so high that interruptions fail no job
const redisRetryDelayMs = 1_000;

/** BullMQ worker: each job starts one run, and is delayed if a further run is needed. */
export class UploadWorker {
  private readonly connection: Redis;
  private readonly worker: Worker<UploadJob>;
  private readonly redisWarnings = new WarningLimit();
  private readonly runWarnings = new WarningLimit();
  private stopping = false;

  constructor(
    private readonly processUpload: Pick<ProcessUpload, 'run' | 'stop'>,
    config: RedisSettings &
      Pick<CreatorApiSettings, 'TRACK_UPLOAD_QUEUE_PREFIX' | 'TRACK_UPLOAD_CONCURRENCY'>,
    private readonly logger: Logger,
  ) {
    this.connection = new Redis(config.REDIS_URL, {
      ...redisOptions(config),
      maxRetriesPerRequest: null, // the worker waits until Redis is back
      retryStrategy: (attempt) => (this.stopping ? null : reconnectDelayMs(attempt)),
      lazyConnect: true,
    });
    this.connection.on('error', (error) => this.warnAboutRedis(error));
    this.worker = new Worker<UploadJob>(uploadQueueName, (job, token) => this.run(job, token), {
      connection: this.connection,
      prefix: config.TRACK_UPLOAD_QUEUE_PREFIX,
      autorun: false,
      concurrency: config.TRACK_UPLOAD_CONCURRENCY,
      lockDuration: lockMs,
      stalledInterval: stalledCheckIntervalMs,
      maxStalledCount,
      runRetryDelay: redisRetryDelayMs,
    });
    this.worker.on('error', (error) => this.warnAboutRedis(error));
    this.worker.on('failed', (job, error) => this.warnAboutRun(error, job?.data.uploadId));
  }

  start(): void {
    this.worker.run().catch((error: unknown) => this.warnAboutRedis(error));
  }

  /** Resolves when the running uploads have been released; without Redis, it does not wait for them. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.processUpload.stop();
    const isForced = this.connection.status !== 'ready'; // otherwise `close` would wait for Redis
    await this.worker.close(isForced).catch((error: unknown) => this.warnAboutRedis(error));
    this.connection.disconnect();
  }

  private async run(job: Job<UploadJob>, token: string | undefined): Promise<void> {
    const delayMs = await this.processUpload.run(job.data.uploadId);
    if (delayMs === undefined) return;
    await job.moveToDelayed(Date.now() + delayMs, token);
    throw new DelayedError(); // for BullMQ: the job is not complete
  }

  private warnAboutRedis(error: unknown): void {
    if (this.redisWarnings.allows())
      this.logger.warn(
        { error },
        'The track upload worker reported an error of Redis or BullMQ; uploads wait in PostgreSQL.',
      );
  }

  /** `uploadRequeueLoop` adds the upload again when its lease has ended. */
  private warnAboutRun(error: unknown, uploadId: string | undefined): void {
    if (this.runWarnings.allows())
      this.logger.warn(
        { error, upload_id: uploadId },
        'A run of a track upload ended with an unexpected error; will retry.',
      );
  }
}
