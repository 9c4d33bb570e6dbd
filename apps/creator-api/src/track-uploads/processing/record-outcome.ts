import { messages } from '@fulfilment/contracts';
import { type Database, type Statement, statement } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import type { Clock } from '@fulfilment/runtime';
import type { DescribedAudio } from '../audio/describe-audio.js';
import type { UploadFailure } from '../upload-failure.rules.js';
import { type LeasedUpload, LeaseLost } from './upload-leases.js';

// Only the holder of the lease records the outcome, and only once.
const whereLeasedSql = "WHERE id = $1 AND lease_token = $2 AND status = 'processing'";
const complete = statement(
  'track-uploads.complete',
  `UPDATE track_uploads SET status = 'completed', audio = $3, upload_url = NULL, lease_token = NULL, lease_until = NULL,
     updated_at = $4 ${whereLeasedSql} RETURNING release_id, track_id, created_at`,
);
const fail = statement(
  'track-uploads.fail',
  `UPDATE track_uploads SET status = 'failed', failure = $3, upload_url = NULL, lease_token = NULL, lease_until = NULL,
     updated_at = $4 ${whereLeasedSql}`,
);
const scheduleRetry = statement(
  'track-uploads.schedule-retry',
  `UPDATE track_uploads SET failed_runs = failed_runs + 1, due_at = now() + $3 * interval '1 millisecond', lease_token = NULL,
     lease_until = NULL, updated_at = $4 ${whereLeasedSql}`,
);

interface CompletedUpload {
  release_id: string;
  track_id: string;
  created_at: Date;
}

/** Records the outcome of a run. @throws LeaseLost if the run no longer holds the lease */
export class RecordOutcome {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Also publishes `track.processed` for store-api, in the commit of the outcome. */
  async complete({ id, token }: LeasedUpload, { audio, title, position }: DescribedAudio): Promise<void> {
    const occurredAt = this.clock();
    await this.database.transaction(async (tx) => {
      const upload = await tx.row<CompletedUpload>(complete, [id, token, JSON.stringify(audio), occurredAt]);
      if (upload === undefined) throw new LeaseLost();
      const { created_at: registeredAt, ...track } = upload;
      const duration = Math.round(audio.duration_seconds);
      const data = {
        ...track,
        title,
        position,
        duration_seconds: duration,
        registered_at: registeredAt.toISOString(),
      };
      await this.outbox.add(tx, messages.trackProcessed.make(data, { occurredAt }));
    });
  }

  async fail({ id, token }: LeasedUpload, { code, message }: UploadFailure): Promise<void> {
    const failure = JSON.stringify({ code, message });
    await this.update(fail, [id, token, failure, this.clock()]);
  }

  /** Records a transient problem, and when the next run is due. */
  async scheduleRetry({ id, token }: LeasedUpload, delayMs: number): Promise<void> {
    await this.update(scheduleRetry, [id, token, delayMs, this.clock()]);
  }

  private async update(change: Statement, values: readonly unknown[]): Promise<void> {
    if ((await this.database.run(change, values)) === 0) throw new LeaseLost();
  }
}
