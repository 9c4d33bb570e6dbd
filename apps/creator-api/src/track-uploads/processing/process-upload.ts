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

/** Makes one run of an upload: fetches the audio, analyses it, records the outcome. */
export class ProcessUpload {
  constructor(private readonly dependencies: ProcessUploadDependencies) {}

  /** @param stopping aborts when this replica stops; the upload is then released for another one */
  async run(upload: LeasedUpload, stopping: AbortSignal): Promise<void> {
    const { leases, logger } = this.dependencies;
    const fields = { upload_id: upload.id };
    try {
      await leases.runWithRenewal(upload, stopping, (signal) => this.runLeased(upload, signal));
    } catch (error) {
      if (error instanceof LeaseLost) {
        uploadMetrics.leasesLost.inc();
        logger.warn(fields, 'Lost the lease of a track upload; another run continues it.');
      } else if (stopping.aborted) {
        await leases.release(upload);
      } else {
        logger.error(
          { ...fields, error },
          'A run of a track upload ended with an unexpected error; will retry after its lease.',
        );
      }
    }
  }

  private async runLeased(upload: LeasedUpload, signal: AbortSignal): Promise<void> {
    const { recordOutcome, logger } = this.dependencies;
    const startedAtMs = performance.now();
    const result = findLostRunsProblem(upload.lostRuns) ?? (await this.fetchAndRead(upload, signal));
    const fields = { upload_id: upload.id, duration_ms: Math.round(performance.now() - startedAtMs) };
    if ('audio' in result) {
      await recordOutcome.complete(upload, result);
      uploadMetrics.runs.inc({ outcome: 'completed' });
      logger.info(fields, 'Track upload completed.');
      return;
    }
    const next = nextRun(result, upload.failedRuns, this.dependencies.config.TRACK_UPLOAD_RETRY_SCHEDULE_MS);
    if ('failure' in next) {
      await recordOutcome.fail(upload, next.failure);
      uploadMetrics.runs.inc({ outcome: result.code });
      logger.info({ ...fields, code: result.code }, 'Track upload failed.');
      return;
    }
    await recordOutcome.scheduleRetry(upload, next.delayMs);
    uploadMetrics.runs.inc({ outcome: result.code });
    logger.info(
      { ...fields, code: result.code, retry_delay_ms: next.delayMs },
      'Track upload failed temporarily; will retry.',
    );
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
