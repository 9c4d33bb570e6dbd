import { type Database, statement, type Transaction } from '@fulfilment/database';
import type { AuditEntry, Origin } from '../audit/audit-log.js';
import type { GuessCount } from './guess-limits.rules.js';

export type Ending = 'right' | 'wrong' | 'unknown';

interface CountRow extends Record<string, unknown> {
  readonly subject: string;
  readonly failed: number;
  readonly trying: number;
  readonly seconds_since_failure: number | null;
  readonly seconds_left: number;
}

/** A guess whose process died counts as under way for so long. */
const tryTimeoutSeconds = 30;
const batchSize = 1000;
/** Accounts of a network that raise its limit; more would make the limit meaningless. */
const maxCountedAccounts = 1000;

// Rows are locked in the order of their subjects, here and at the end, so that two guesses never wait for each other.
const lockCounts = statement(
  'guess-counts.lock',
  `INSERT INTO guess_counts AS count (subject) SELECT subject FROM unnest($1::text[]) AS subject ORDER BY subject
   ON CONFLICT (subject) DO UPDATE SET
     failed = CASE WHEN count.expires_at > now() THEN count.failed ELSE 0 END,
     trying = CASE WHEN count.trying_until > now() THEN count.trying ELSE 0 END
   RETURNING subject, failed, trying,
     extract(epoch FROM now() - failed_at)::float8 AS seconds_since_failure,
     extract(epoch FROM expires_at - now())::float8 AS seconds_left`,
);
const beginTry = statement(
  'guess-counts.begin',
  `UPDATE guess_counts SET trying = trying + 1, trying_until = now() + interval '${tryTimeoutSeconds} seconds'
   WHERE subject = ANY ($1)`,
);
/** $2 the ending, $3 the subject that a right guess resets, $4 the window in seconds. Failures of all networks together expire after the last one. */
const endTry = statement(
  'guess-counts.end',
  `WITH locked AS MATERIALIZED (
     SELECT subject FROM guess_counts WHERE subject = ANY ($1) ORDER BY subject FOR UPDATE)
   UPDATE guess_counts AS count SET
     trying = greatest(0, trying - 1),
     failed = CASE WHEN $2 = 'wrong' THEN CASE WHEN expires_at > now() THEN failed + 1 ELSE 1 END
                   WHEN $2 = 'right' AND count.subject = $3 THEN 0 ELSE failed END,
     failed_at = CASE WHEN $2 = 'wrong' THEN now() ELSE failed_at END,
     expires_at = CASE WHEN $2 = 'wrong' AND (failed = 0 OR expires_at <= now() OR starts_with(count.subject, 'everywhere:'))
                       THEN now() + $4 * interval '1 second' ELSE expires_at END
   FROM locked WHERE count.subject = locked.subject`,
);
const noteLocked = statement(
  'guess-counts.note-locked',
  `UPDATE guess_counts SET locked_attempts = locked_attempts + 1, locked_record = $2,
     locked_from = CASE WHEN locked_attempts = 0 THEN now() ELSE locked_from END,
     locked_until = CASE WHEN locked_attempts = 0 THEN now() + $3 * interval '1 second' ELSE locked_until END
   WHERE subject = $1`,
);
const countAccounts = statement(
  'guess-counts.accounts',
  `SELECT count(*)::int AS accounts FROM (
     SELECT 1 FROM network_sign_ins WHERE network = $1 AND signed_in_at > now() - interval '1 day'
     LIMIT ${maxCountedAccounts}) AS those`,
);
const noteSignIn = statement(
  'guess-counts.note-sign-in',
  `INSERT INTO network_sign_ins (network, user_id) SELECT network, $2 FROM unnest($1::text[]) AS network ORDER BY network
   ON CONFLICT (network, user_id) DO UPDATE SET signed_in_at = now()`,
);
// One statement: an attempt is either still counted or in the audit log.
const recordLocked = statement(
  'guess-counts.record-locked',
  `WITH over AS (
     SELECT subject, locked_attempts, locked_from, locked_record FROM guess_counts
     WHERE locked_attempts > 0 AND locked_until <= now()
     ORDER BY subject LIMIT ${batchSize} FOR UPDATE SKIP LOCKED),
   reset AS (
     UPDATE guess_counts SET locked_attempts = 0, locked_record = NULL FROM over WHERE guess_counts.subject = over.subject)
   INSERT INTO audit_log (event, user_id, client_id, ip, user_agent, details)
   SELECT locked_record ->> 'event', (locked_record ->> 'userId')::uuid, locked_record ->> 'clientId',
     locked_record ->> 'ip', locked_record ->> 'userAgent',
     (locked_record -> 'details') || jsonb_build_object('count', locked_attempts, 'since', locked_from)
   FROM over`,
);
const deleteExpired = statement(
  'guess-counts.delete-expired',
  `DELETE FROM guess_counts WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM guess_counts
     WHERE expires_at < now() AND trying_until < now() AND locked_attempts = 0
     LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))`,
);
const deleteOldSignIns = statement(
  'guess-counts.delete-sign-ins',
  `DELETE FROM network_sign_ins WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM network_sign_ins WHERE signed_in_at < now() - interval '1 day'
     LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))`,
);

/** Counts of guesses by subject, in PostgreSQL: what a sign-in needs anyway, the same for all replicas. */
export class GuessCounts {
  constructor(private readonly database: Database) {}

  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.database.transaction(work);
  }

  /** Locks the subjects' rows until the transaction ends. The counts are in the order of the subjects given. */
  async lock(tx: Transaction, subjects: readonly string[]): Promise<GuessCount[]> {
    const rows = await tx.rows<CountRow>(lockCounts, [subjects]);
    return subjects.map((subject) => countOf(rows.find((row) => row.subject === subject)));
  }

  async begin(tx: Transaction, subjects: readonly string[]): Promise<void> {
    await tx.run(beginTry, [subjects]);
  }

  /** @param own the subject that a right guess resets */
  async end(subjects: readonly string[], ending: Ending, own: string, windowSeconds: number): Promise<void> {
    await this.database.run(endTry, [subjects, ending, own, windowSeconds]);
  }

  /** Counts an attempt that was rejected without a look. The audit log gets one record of all of a window (`recordLocked`). */
  async noteLocked(
    tx: Transaction,
    subject: string,
    {
      origin,
      entry,
      windowSeconds,
    }: { readonly origin: Origin; readonly entry: AuditEntry; readonly windowSeconds: number },
  ): Promise<void> {
    const { event, userId, clientId, details = {} } = entry;
    const record = JSON.stringify({
      event,
      userId,
      clientId,
      ip: origin.ip,
      userAgent: origin.userAgent,
      details,
    });
    await tx.run(noteLocked, [subject, record, windowSeconds]);
  }

  /** Distinct accounts that signed in from a network within a day. */
  async accountsOf(tx: Transaction, network: string): Promise<number> {
    return (await tx.row<{ accounts: number }>(countAccounts, [network]))?.accounts ?? 0;
  }

  async noteSignIn(networks: readonly string[], userId: string): Promise<void> {
    await this.database.run(noteSignIn, [networks, userId]);
  }

  /** Writes the locked attempts of windows that are over to the audit log. Returns whether there may be more. @param on the database of upkeep */
  async recordLocked(on: Database): Promise<boolean> {
    return (await on.run(recordLocked)) === batchSize;
  }

  /** Deletes a batch of counts that expired. Returns whether there may be more. */
  async deleteExpired(on: Database): Promise<boolean> {
    const counts = await on.run(deleteExpired);
    return (await on.run(deleteOldSignIns)) === batchSize || counts === batchSize;
  }
}

function countOf(row: CountRow | undefined): GuessCount {
  return {
    failed: row?.failed ?? 0,
    trying: row?.trying ?? 0,
    secondsSinceFailure: row?.seconds_since_failure ?? Infinity,
    secondsLeft: row?.seconds_left ?? 0,
  };
}
