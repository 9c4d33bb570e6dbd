import { isOutage } from '@fulfilment/error-envelope';
import type { Logger } from '@fulfilment/runtime';
import type { CreatorApiSettings } from '../config.js';
import { AudioRefused } from './audio/audio-refused.js';
import type { DescribedAudio } from './audio/describe-audio.js';
import type { ReadAudio } from './audio/read-audio.js';
import type { FetchAudio } from './fetch-audio.js';
import { lostTooOften, nextRun } from './next-run.rules.js';
import type { SettleUpload } from './settle-upload.js';
import type { Spool } from './spool.js';
import { forNow, type UploadProblem } from './upload-failure.rules.js';
import { LeaseLost, type LeasedUpload, type UploadLeases } from './upload-lease.js';
import { uploadMetrics } from './upload-metrics.js';

export interface ProcessUploadParts {
  readonly leases: UploadLeases;
  readonly spool: Spool;
  readonly fetchAudio: FetchAudio;
  readonly readAudio: ReadAudio;
  readonly settle: SettleUpload;
  readonly config: Pick<CreatorApiSettings, 'TRACK_UPLOAD_RETRY_SCHEDULE_MS'>;
  readonly logger: Logger;
}

/** One run at an upload: take it, fetch the audio, read it, write down what came of it. */
export class ProcessUpload {
  private readonly stopping = new AbortController();

  constructor(private readonly parts: ProcessUploadParts) {}

  /** Answers after how many ms to come again; nothing when the upload is over. */
  async run(id: string): Promise<number | undefined> {
    const { leases, logger } = this.parts;
    if (this.stopping.signal.aborted) return 0;
    const upload = await leases.take(id);
    if (upload === undefined) return undefined;
    if ('againInMs' in upload) return upload.againInMs;
    try {
      return await leases.hold(upload, this.stopping.signal, (signal) => this.work(upload, signal));
    } catch (error) {
      if (error instanceof LeaseLost) {
        uploadMetrics.leasesLost.inc();
        logger.warn({ upload_id: id }, 'Lost the lease of a track upload; another process continues it.');
        return undefined;
      }
      if (!this.stopping.signal.aborted) throw error;
      await leases.giveBack(upload);
      return 0;
    }
  }

  /** Breaks off what is in hand; it is given back for others to begin anew. */
  stop(): void {
    this.stopping.abort();
  }

  private async work(upload: LeasedUpload, signal: AbortSignal): Promise<number | undefined> {
    const { settle, logger } = this.parts;
    const startedAtMs = performance.now();
    const result = lostTooOften(upload.run, upload.failedRuns) ?? (await this.fetchAndRead(upload, signal));
    const fields = { upload_id: upload.id, duration_ms: Math.round(performance.now() - startedAtMs) };
    if ('audio' in result) {
      await settle.complete(upload, result);
      uploadMetrics.runs.inc({ outcome: 'completed' });
      logger.info(fields, 'Track upload completed.');
      return undefined;
    }
    const next = nextRun(result, upload.failedRuns, this.parts.config.TRACK_UPLOAD_RETRY_SCHEDULE_MS);
    if ('failure' in next) {
      await settle.fail(upload, next.failure);
      uploadMetrics.runs.inc({ outcome: result.code });
      logger.info({ ...fields, code: result.code }, 'Track upload failed.');
      return undefined;
    }
    await settle.postpone(upload, next.afterMs);
    uploadMetrics.runs.inc({ outcome: result.code });
    logger.info(
      { ...fields, code: result.code, again_in_ms: next.afterMs },
      'Track upload failed temporarily; will retry.',
    );
    return next.afterMs;
  }

  private async fetchAndRead(
    { id, url }: LeasedUpload,
    signal: AbortSignal,
  ): Promise<DescribedAudio | UploadProblem> {
    const { spool, fetchAudio, readAudio, logger } = this.parts;
    try {
      const file = await spool.open();
      try {
        return (await fetchAudio.run(url, file, signal)) ?? (await readAudio.run(file, signal));
      } finally {
        await file.close();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AudioRefused) return { ...error.failure, mayPass: false };
      if (isOutage(error)) throw error;
      logger.error({ error, upload_id: id }, 'Unexpected error in track upload.');
      return forNow('internal_error', 'The file could not be processed because of an internal error.');
    }
  }
}
