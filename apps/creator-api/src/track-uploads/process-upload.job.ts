import type { Logger } from '@fulfilment/runtime';
import { DelayedError, type Job, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { CreatorApiSettings } from '../config.js';
import type { ProcessUpload } from './process-upload.js';
import { type UploadJob, uploadQueueName } from './upload-queue.js';

// A killed process's job is taken over within lock + interval. A run that lost its lock does no harm: leases decide.
const lockMs = 10_000;
const lookForStalledEveryMs = 5_000;
const mostStalls = 1_000_000; // a job never fails for having been interrupted
const tryAgainAfterMs = 1_000;
const warnEveryMs = 10_000;

/** The BullMQ edge: a job → one run, and the job waits for the next when there is one. */
export class UploadJobs {
  private readonly connection: Redis;
  private readonly worker: Worker<UploadJob>;
  private warnedAtMs = -Infinity;
  private stopping = false;

  constructor(
    private readonly processUpload: ProcessUpload,
    config: Pick<CreatorApiSettings, 'REDIS_URL' | 'TRACK_UPLOAD_QUEUE_PREFIX' | 'TRACK_UPLOAD_CONCURRENCY'>,
    private readonly logger: Logger,
  ) {
    this.connection = new Redis(config.REDIS_URL, {
      maxRetriesPerRequest: null, // a worker waits for Redis to come back
      retryStrategy: (attempt) => (this.stopping ? null : Math.min(100 * attempt, 2_000)),
      lazyConnect: true,
    });
    this.connection.on('error', (error) => this.warn(error));
    this.worker = new Worker<UploadJob>(uploadQueueName, (job, token) => this.run(job, token), {
      connection: this.connection,
      prefix: config.TRACK_UPLOAD_QUEUE_PREFIX,
      autorun: false,
      concurrency: config.TRACK_UPLOAD_CONCURRENCY,
      lockDuration: lockMs,
      stalledInterval: lookForStalledEveryMs,
      maxStalledCount: mostStalls,
      runRetryDelay: tryAgainAfterMs,
    });
    this.worker.on('error', (error) => this.warn(error));
  }

  start(): void {
    this.worker.run().catch((error: unknown) => this.warn(error));
  }

  /** Ends when what is in hand was given back. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.processUpload.stop();
    await this.worker.close(this.connection.status !== 'ready').catch((error: unknown) => this.warn(error));
    this.connection.disconnect();
  }

  private async run(job: Job<UploadJob>, token: string | undefined): Promise<void> {
    const againInMs = await this.processUpload.run(job.data.uploadId);
    if (againInMs === undefined) return;
    await job.moveToDelayed(Date.now() + againInMs, token);
    throw new DelayedError();
  }

  private warn(error: unknown): void {
    if (performance.now() - this.warnedAtMs < warnEveryMs) return;
    this.warnedAtMs = performance.now();
    this.logger.warn(
      { error },
      'Redis does not respond to the track upload worker; uploads wait in PostgreSQL.',
    );
  }
}
