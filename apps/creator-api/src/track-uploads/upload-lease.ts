import { uuidv7 } from '@fulfilment/contracts';
import { type Database, statement, allInOrder } from '@fulfilment/database';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import type { CreatorApiSettings } from '../config.js';
import { creatorsBeside } from './creators-beside.js';

const renewalsInALease = 3;

/** An upload that is this process's to work on, until its lease ends. */
export interface LeasedUpload {
  readonly id: string;
  readonly url: string;
  /** Of this run, from 1; runs whose process died count. */
  readonly run: number;
  /** How many before it met something that may pass. */
  readonly failedRuns: number;
  readonly token: string;
}

/** Somebody else is at work, it is not due yet, or its organisation has as many as may be. */
export interface Busy {
  readonly againInMs: number;
}

// A claim counts those of its organisation that are committed: two at once would not see each other, and get past the bound together.
const takeTurns = statement(
  'track-uploads.take-turns-at-claiming',
  `SELECT pg_advisory_xact_lock(hashtextextended('track-uploads-at-work:' || coalesce(c.organisation_id, u.creator_id::text), 0))
   FROM track_uploads u LEFT JOIN creators c ON c.id = u.creator_id WHERE u.id = $1`,
);
// By the time of the statement: that of the transaction is before it waited for its turn.
const claim = statement(
  'track-uploads.claim',
  `UPDATE track_uploads u SET status = 'processing', runs = runs + 1, due_at = NULL, lease_token = $2,
     lease_until = statement_timestamp() + $3 * interval '1 millisecond', updated_at = statement_timestamp()
   WHERE id = $1 AND status IN ('pending', 'processing') AND coalesce(due_at, lease_until) <= statement_timestamp()
     AND (SELECT count(*) FROM track_uploads other WHERE other.creator_id IN (${creatorsBeside('u.creator_id')})
            AND other.status = 'processing' AND other.lease_until > statement_timestamp()) < $4
   RETURNING id, upload_url AS url, runs AS run, failed_runs AS "failedRuns"`,
);
const look = statement(
  'track-uploads.look',
  `SELECT ceil(extract(epoch FROM coalesce(due_at, lease_until) - now()) * 1000)::bigint AS ms,
     (SELECT count(*) FROM track_uploads other
      WHERE other.creator_id IN (${creatorsBeside('u.creator_id')}) AND other.status IN ('pending', 'processing')) AS open
   FROM track_uploads u WHERE id = $1 AND status IN ('pending', 'processing')`,
);
const renew = statement(
  'track-uploads.renew',
  `UPDATE track_uploads SET lease_until = now() + $3 * interval '1 millisecond' WHERE id = $1 AND lease_token = $2`,
);
const giveBack = statement(
  'track-uploads.give-back',
  `UPDATE track_uploads SET runs = runs - 1, due_at = now(), lease_token = NULL, lease_until = NULL
   WHERE id = $1 AND lease_token = $2`,
);

/**
 * Uploads are taken by a lease in PostgreSQL: that, and no lock in Redis, decides who works on one. A process that dies, or stops for longer than the
 * lease, loses it; one that comes back finds that it has, and stops.
 */
export class UploadLeases {
  private readonly leaseMs: number;
  private readonly mostOfAnOrganisation: number;

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
    this.mostOfAnOrganisation = Math.min(half, config.TRACK_UPLOAD_ORGANISATION_CONCURRENCY);
  }

  /** Undefined when there is nothing left to do. */
  async take(id: string): Promise<LeasedUpload | Busy | undefined> {
    const token = uuidv7();
    const upload = await this.database.transaction(async (tx) => {
      const [, claimed] = await allInOrder([
        tx.run(takeTurns, [id]),
        tx.row<Omit<LeasedUpload, 'token'>>(claim, [id, token, this.leaseMs, this.mostOfAnOrganisation]),
      ]);
      return claimed;
    });
    if (upload !== undefined) return { ...upload, token };
    const wait = await this.database.row<{ ms: number; open: number }>(look, [id]);
    return wait === undefined ? undefined : { againInMs: Math.max(wait.ms, askAgainMs(wait.open)) };
  }

  /** Renews the lease while the work goes on. Its signal aborts when the lease is lost, or the given one does. */
  async hold<Result>(
    { id, token }: LeasedUpload,
    stopping: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const lost = new AbortController();
    let endsAtMs = performance.now() + this.leaseMs;
    const renewing = new BackgroundLoop({
      name: 'track-upload-lease',
      intervalMs: this.leaseMs / renewalsInALease,
      logger: this.logger,
      round: async () => {
        const askedAtMs = performance.now();
        if (askedAtMs > endsAtMs) lost.abort(new LeaseLost());
        if ((await this.database.run(renew, [id, token, this.leaseMs])) === 0) lost.abort(new LeaseLost());
        endsAtMs = askedAtMs + this.leaseMs;
        return false;
      },
    });
    const watch = setInterval(() => {
      if (performance.now() > endsAtMs) lost.abort(new LeaseLost());
    }, this.leaseMs / renewalsInALease);
    renewing.start();
    try {
      return await work(AbortSignal.any([stopping, lost.signal]));
    } finally {
      clearInterval(watch);
      await renewing.stop();
    }
  }

  /** For work that was broken off in order: the run does not count. */
  async giveBack({ id, token }: LeasedUpload): Promise<void> {
    await this.database.run(giveBack, [id, token]);
  }
}

/** While an organisation has as many at work as may be, the others ask again: all of them together at most 20 times a second. */
function askAgainMs(openOfOrganisation: number): number {
  return 250 + 50 * openOfOrganisation;
}

/** Somebody else may be at work on it now. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor() {
    super('Lost the lease of the track upload.');
  }
}
