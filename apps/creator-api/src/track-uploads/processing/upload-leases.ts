import { uuidv7 } from '@fulfilment/contracts';
import { type Database, statement, pipelined } from '@fulfilment/database';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import type { CreatorApiSettings } from '../../config.js';
import { organisationCreators } from '../organisation-creators.sql.js';

const renewalsPerLease = 3;
const minPollDelayMs = 250;
const pollDelayPerUploadMs = 50;

/** An upload that only this process works on until its lease ends. */
export interface LeasedUpload {
  readonly id: string;
  readonly url: string;
  /** Number of earlier runs with a transient problem. */
  readonly failedRuns: number;
  /** Number of earlier runs without an outcome, because their process died or lost its lease. */
  readonly lostRuns: number;
  readonly token: string;
}

/**
 * An upload is `unavailable` when another process works on it, it is not due yet, or its organisation is at
 * its concurrency limit. An upload that does not exist counts as `finished`.
 */
type Claim =
  | { readonly result: 'leased'; readonly upload: LeasedUpload }
  | { readonly result: 'unavailable'; readonly retryAfterMs: number }
  | { readonly result: 'finished' };

// Serialises the claims of an organisation until the transaction ends. Without it, concurrent claims could
// exceed the limit, since a claim counts only committed rows.
const serialiseClaims = statement(
  'track-uploads.serialise-claims',
  `SELECT pg_advisory_xact_lock(hashtextextended('track-uploads-at-work:' || coalesce(c.organisation_id, u.creator_id::text), 0))
   FROM track_uploads u LEFT JOIN creators c ON c.id = u.creator_id WHERE u.id = $1`,
);
// Uses statement_timestamp(): now() is the start of the transaction, before it waited for the lock.
const claim = statement(
  'track-uploads.claim',
  `UPDATE track_uploads u SET status = 'processing', runs = runs + 1, due_at = NULL, lease_token = $2,
     lease_until = statement_timestamp() + $3 * interval '1 millisecond', updated_at = statement_timestamp()
   WHERE id = $1 AND status IN ('pending', 'processing') AND coalesce(due_at, lease_until) <= statement_timestamp()
     AND (SELECT count(*) FROM track_uploads other WHERE other.creator_id IN (${organisationCreators('u.creator_id')})
            AND other.status = 'processing' AND other.lease_until > statement_timestamp()) < $4
   RETURNING id, upload_url AS url, failed_runs AS "failedRuns", runs - 1 - failed_runs AS "lostRuns"`,
);
const readDelay = statement(
  'track-uploads.read-delay',
  `SELECT ceil(extract(epoch FROM coalesce(due_at, lease_until) - now()) * 1000)::bigint AS ms,
     (SELECT count(*) FROM track_uploads other
      WHERE other.creator_id IN (${organisationCreators('u.creator_id')}) AND other.status IN ('pending', 'processing')) AS open
   FROM track_uploads u WHERE id = $1 AND status IN ('pending', 'processing')`,
);
const renew = statement(
  'track-uploads.renew',
  `UPDATE track_uploads SET lease_until = now() + $3 * interval '1 millisecond' WHERE id = $1 AND lease_token = $2`,
);
// The status remains `processing`, since the API has reported that the work began. Without a lease the upload
// is due at once, and does not count towards the limit of its organisation.
const release = statement(
  'track-uploads.release-lease',
  `UPDATE track_uploads SET runs = runs - 1, due_at = now(), lease_token = NULL, lease_until = NULL
   WHERE id = $1 AND lease_token = $2`,
);

/**
 * Leases in PostgreSQL decide which process works on an upload; locks in Redis do not. When a process dies,
 * or pauses for longer than its lease, another one may take over the upload. A process that resumes detects
 * this and stops its work (ADR 17).
 */
export class UploadLeases {
  private readonly leaseMs: number;
  private readonly maxPerOrganisation: number;

  constructor(
    private readonly database: Database,
    config: Pick<
      CreatorApiSettings,
      'TRACK_UPLOAD_LEASE_MS' | 'TRACK_UPLOAD_CONCURRENCY' | 'TRACK_UPLOAD_ORGANISATION_CONCURRENCY'
    >,
    private readonly logger: Logger,
  ) {
    this.leaseMs = config.TRACK_UPLOAD_LEASE_MS;
    const half = Math.max(1, Math.floor(config.TRACK_UPLOAD_CONCURRENCY / 2));
    this.maxPerOrganisation = Math.min(half, config.TRACK_UPLOAD_ORGANISATION_CONCURRENCY);
  }

  async claim(id: string): Promise<Claim> {
    const token = uuidv7();
    const upload = await this.database.transaction(async (tx) => {
      // The claim runs on the same connection, so it waits until the transaction has the lock.
      const [, claimed] = await pipelined([
        tx.run(serialiseClaims, [id]),
        tx.row<Omit<LeasedUpload, 'token'>>(claim, [id, token, this.leaseMs, this.maxPerOrganisation]),
      ]);
      return claimed;
    });
    if (upload !== undefined) return { result: 'leased', upload: { ...upload, token } };
    const wait = await this.database.row<{ ms: number; open: number }>(readDelay, [id]);
    if (wait === undefined) return { result: 'finished' };
    return { result: 'unavailable', retryAfterMs: Math.max(wait.ms, pollDelayMs(wait.open)) };
  }

  /** Renews the lease during the work, whose signal aborts when the lease is lost or `stopping` aborts. */
  async runWithRenewal<Result>(
    { id, token }: LeasedUpload,
    stopping: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const lost = new AbortController();
    let endsAtMs = performance.now() + this.leaseMs;
    const renewing = new BackgroundLoop({
      name: 'track-upload-lease',
      intervalMs: this.leaseMs / renewalsPerLease,
      logger: this.logger,
      round: async () => {
        const requestedAtMs = performance.now();
        if ((await this.database.run(renew, [id, token, this.leaseMs])) === 0) lost.abort(new LeaseLost());
        endsAtMs = requestedAtMs + this.leaseMs;
      },
    });
    // Also aborts the work if a renewal takes too long, for example because PostgreSQL does not respond.
    const expiryCheck = setInterval(() => {
      if (performance.now() > endsAtMs) lost.abort(new LeaseLost());
    }, this.leaseMs / renewalsPerLease);
    renewing.start();
    try {
      return await work(AbortSignal.any([stopping, lost.signal]));
    } finally {
      clearInterval(expiryCheck);
      await renewing.stop();
    }
  }

  /** Releases an upload whose processing was aborted by a shutdown. The run does not count. */
  async release({ id, token }: LeasedUpload): Promise<void> {
    await this.database.run(release, [id, token]);
  }
}

/** Poll delay of each upload of an organisation at its limit. All of them poll at most 20 times a second. */
function pollDelayMs(openUploads: number): number {
  return minPollDelayMs + pollDelayPerUploadMs * openUploads;
}

/** The lease has ended, so another process may be working on the upload. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor() {
    super('Lost the lease of the track upload.');
  }
}
