import type { Logger } from '@fulfilment/runtime';
import type { CreatorApiSettings } from '../../config.js';
import { InvalidAudio } from '../audio/invalid-audio.js';
import type { DescribedAudio } from '../audio/describe-audio.js';
import type { ReadAudio } from '../audio/read-audio.js';
import type { FetchAudio } from '../fetching/fetch-audio.js';
import { findLostRunsProblem, nextRun } from './next-run.rules.js';
import type { RecordOutcome } from './record-outcome.js';
import type { Spool } from '../fetching/spool.js';
import { transientProblem, type UploadProblem } from '../upload-failure.rules.js';
import { LeaseLost, type LeasedUpload, type UploadLeases } from './upload-leases.js';
import { uploadMetrics } from './upload-metrics.js';

interface ProcessUploadDependencies {
  readonly leases: UploadLeases;
  readonly spool: Spool;
  readonly fetchAudio: FetchAudio;
  readonly readAudio: ReadAudio;
  readonly recordOutcome: RecordOutcome;
  readonly config: Pick<CreatorApiSettings, 'TRACK_UPLOAD_RETRY_SCHEDULE_MS'>;
  readonly logger: Logger;
}

/** Delay of the next run of an upload that this replica releases because it stops. */
const releasedDelayMs = 0;

/** Makes one run of an upload: claims it, fetches the audio, analyses it, records the outcome. */
export class ProcessUpload {
  private readonly stopping = new AbortController();

  constructor(private readonly dependencies: ProcessUploadDependencies) {}

  /** Returns the delay of the next run in milliseconds; undefined if the job needs no other run. */
  async run(id: string): Promise<number | undefined> {
    const { leases, logger } = this.dependencies;
    if (this.stopping.signal.aborted) return releasedDelayMs;
    const claim = await leases.claim(id);
    if (claim.result === 'finished') return undefined;
    if (claim.result === 'unavailable') return claim.retryAfterMs;
    const { upload } = claim;
    try {
      return await leases.runWithRenewal(upload, this.stopping.signal, (signal) =>
        this.runLeased(upload, signal),
      );
    } catch (error) {
      if (error instanceof LeaseLost) {
        uploadMetrics.leasesLost.inc();
        logger.warn({ upload_id: id }, 'Lost the lease of a track upload; another run continues it.');
        return undefined;
      }
      if (!this.stopping.signal.aborted) throw error;
      await leases.release(upload);
      return releasedDelayMs;
    }
  }

  /** Aborts the current runs, which release their uploads for other replicas. */
  stop(): void {
    this.stopping.abort();
  }

  private async runLeased(upload: LeasedUpload, signal: AbortSignal): Promise<number | undefined> {
    const { recordOutcome, logger } = this.dependencies;
    const startedAtMs = performance.now();
    const result = findLostRunsProblem(upload.lostRuns) ?? (await this.fetchAndRead(upload, signal));
    const fields = { upload_id: upload.id, duration_ms: Math.round(performance.now() - startedAtMs) };
    if ('audio' in result) {
      await recordOutcome.complete(upload, result);
      uploadMetrics.runs.inc({ outcome: 'completed' });
      logger.info(fields, 'Track upload completed.');
      return undefined;
    }
    const next = nextRun(result, upload.failedRuns, this.dependencies.config.TRACK_UPLOAD_RETRY_SCHEDULE_MS);
    if ('failure' in next) {
      await recordOutcome.fail(upload, next.failure);
      uploadMetrics.runs.inc({ outcome: result.code });
      logger.info({ ...fields, code: result.code }, 'Track upload failed.');
      return undefined;
    }
    await recordOutcome.scheduleRetry(upload, next.delayMs);
    uploadMetrics.runs.inc({ outcome: result.code });
    logger.info(
      { ...fields, code: result.code, retry_delay_ms: next.delayMs },
      'Track upload failed temporarily; will retry.',
    );
    return next.delayMs;
  }

  private async fetchAndRead(
    { id, url }: LeasedUpload,
    signal: AbortSignal,
  ): Promise<DescribedAudio | UploadProblem> {
    const { spool, fetchAudio, readAudio, logger } = this.dependencies;
    try {
      const file = await spool.open();
      try {
        const problem = await fetchAudio.run(url, file, signal);
        return problem ?? (await readAudio.run(file, signal));
      } finally {
        await file.close();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof InvalidAudio) return { ...error.failure, isTransient: false };
      logger.error({ error, upload_id: id }, 'Unexpected error in track upload.');
      return transientProblem(
        'internal_error',
        'The file could not be processed because of an internal error.',
      );
    }
  }
}
