import { nilUuid } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import type { CreatorApiSettings } from '../../config.js';

const renewalsPerLease = 3;

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

// Without this lock, concurrent claims could exceed the limit of an organisation, since a claim counts only
// committed rows.
const serialiseClaims = statement(
  'track-uploads.serialise-claims',
  "SELECT pg_advisory_xact_lock(hashtextextended('track-upload-claims', 0))",
);
// Skips from creator to creator in the index of waiting uploads: the cost of a claim depends on the number of
// creators, not of uploads.
const selectNextCreatorSql = (after: string): string =>
  `SELECT creator_id FROM track_uploads WHERE due_at IS NOT NULL AND creator_id > ${after}
   ORDER BY creator_id LIMIT 1`;
// Organisations with fewer running uploads come first, and among equals a random one. A creator that is not
// registered here yet counts as an organisation. Uses statement_timestamp(), since now() is the start of the
// transaction, before it waited for the lock. Skips rows that another transaction is changing, so that a
// stalled replica does not block all claims. The condition on the time is repeated for the locked row, which
// may have changed since it was ranked.
export const claimUploads = statement(
  'track-uploads.claim',
  `WITH RECURSIVE waiting AS (
     (${selectNextCreatorSql(`'${nilUuid}'`)})
     UNION ALL
     SELECT following.creator_id FROM waiting
     CROSS JOIN LATERAL (${selectNextCreatorSql('waiting.creator_id')}) following
   ), candidates AS (
     SELECT due.id, waiting.creator_id, due.due_at, false AS is_running FROM waiting CROSS JOIN LATERAL (
       SELECT id, due_at FROM track_uploads
       WHERE creator_id = waiting.creator_id AND due_at <= statement_timestamp()
       ORDER BY due_at LIMIT :max_per_organisation
     ) due
     UNION ALL
     SELECT id, creator_id, lease_until, lease_until > statement_timestamp() FROM track_uploads
     WHERE lease_token IS NOT NULL
   ), ranked AS (
     SELECT id, due_at, is_running,
       row_number() OVER (PARTITION BY organisation, is_running ORDER BY due_at, id) AS rank,
       count(*) FILTER (WHERE is_running) OVER (PARTITION BY organisation) AS running
     FROM (SELECT candidates.*, coalesce(c.organisation_id, creator_id::text) AS organisation
           FROM candidates LEFT JOIN creators c ON c.id = creator_id) grouped
   )
   UPDATE track_uploads SET status = 'processing', runs = runs + 1, due_at = NULL, lease_token = gen_random_uuid(),
     lease_until = statement_timestamp() + :lease_ms * interval '1 millisecond', updated_at = statement_timestamp()
   WHERE id IN (
     SELECT id FROM track_uploads WHERE id = ANY (ARRAY(
         SELECT id FROM ranked WHERE NOT is_running AND running + rank <= :max_per_organisation
         ORDER BY running + rank, random() LIMIT :max
       )) AND coalesce(due_at, lease_until) <= statement_timestamp() FOR UPDATE SKIP LOCKED)
   RETURNING id, upload_url AS url, failed_runs AS "failedRuns", runs - 1 - failed_runs AS "lostRuns", lease_token AS token`,
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
 * Leases decide which process works on an upload (ADR 75). When a process dies, or pauses for longer than its
 * lease, another one may take over the upload. A process that resumes detects this and stops its work.
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

  /** Claims at most `max` due uploads for which their organisations have free slots. */
  async claim(max: number): Promise<LeasedUpload[]> {
    const values = { max, max_per_organisation: this.maxPerOrganisation, lease_ms: this.leaseMs };
    let claiming: Promise<LeasedUpload[]> = Promise.resolve([]);
    await this.database.transaction((tx) => {
      const locking = tx.run(serialiseClaims);
      claiming = tx.rows<LeasedUpload>(claimUploads, values);
      // COMMIT is sent with them, so a replica that stalls does not keep the lock.
      tx.awaitAtCommit(locking, claiming);
      return Promise.resolve();
    });
    return claiming;
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

/** The lease has ended, so another process may be working on the upload. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor() {
    super('Lost the lease of the track upload.');
  }
}
