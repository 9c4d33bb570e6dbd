import { Injectable } from '@nestjs/common';
import { Database, statement, type Transaction } from '@fulfilment/database';
import type { GuessCount } from './guess-limits.rules.js';

export type GuessOutcome = 'right' | 'wrong' | 'unknown';

interface CountRow {
  readonly failed: number;
  readonly trying: number;
  readonly seconds_since_failure: number | null;
  readonly seconds_left: number;
}

/** A guess whose process died counts as in progress for this time. */
const guessTimeoutSeconds = 30;
const batchSize = 1000;
/** Accounts of a network that raise its limit; more would make the limit meaningless. */
const maxCountedAccounts = 1000;

// Callers lock subjects in their order, as the end of a guess does, so that two guesses never wait for each
// other.
const lockCount = statement(
  'guess-counts.lock',
  `INSERT INTO guess_counts AS count (subject) VALUES ($1)
   ON CONFLICT (subject) DO UPDATE SET
     failed = CASE WHEN count.expires_at > now() THEN count.failed ELSE 0 END,
     trying = CASE WHEN count.trying_until > now() THEN count.trying ELSE 0 END
   RETURNING failed, trying,
     extract(epoch FROM now() - failed_at)::float8 AS seconds_since_failure,
     extract(epoch FROM expires_at - now())::float8 AS seconds_left`,
);
const beginGuess = statement(
  'guess-counts.begin',
  `UPDATE guess_counts SET trying = trying + 1, trying_until = now() + interval '${guessTimeoutSeconds} seconds'
   WHERE subject = ANY ($1)`,
);
// $2: outcome; $3: subject that a correct guess resets; $4: window in seconds. The count of all networks
// expires a window after its last failure, the others a window after the first.
const endGuess = statement(
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
const countAccounts = statement(
  'guess-counts.accounts',
  `SELECT count(*)::int AS accounts FROM (
     SELECT 1 FROM network_sign_ins WHERE network = $1 AND signed_in_at > now() - interval '1 day'
     LIMIT ${maxCountedAccounts}) AS recent_sign_ins`,
);
const recordSignIn = statement(
  'guess-counts.record-sign-in',
  `INSERT INTO network_sign_ins (network, user_id) SELECT network, $2 FROM unnest($1::text[]) AS network ORDER BY network
   ON CONFLICT (network, user_id) DO UPDATE SET signed_in_at = now()`,
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

/**
 * Counts guesses by subject in PostgreSQL, which a sign-in needs anyway, so that all replicas share the
 * counts.
 */
@Injectable()
export class GuessCounts {
  constructor(private readonly database: Database) {}

  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.database.transaction(work);
  }

  /** Locks the row of a subject until the transaction ends. */
  async lock(tx: Transaction, subject: string): Promise<GuessCount> {
    const row = await tx.row<CountRow>(lockCount, [subject]);
    return {
      failed: row?.failed ?? 0,
      trying: row?.trying ?? 0,
      secondsSinceFailure: row?.seconds_since_failure ?? Infinity,
      secondsLeft: row?.seconds_left ?? 0,
    };
  }

  async begin(tx: Transaction, subjects: readonly string[]): Promise<void> {
    await tx.run(beginGuess, [subjects]);
  }

  /** @param own the subject that a correct guess resets */
  async end(
    subjects: readonly string[],
    outcome: GuessOutcome,
    own: string,
    windowSeconds: number,
  ): Promise<void> {
    await this.database.run(endGuess, [subjects, outcome, own, windowSeconds]);
  }

  /** Distinct accounts that signed in from a network within a day. */
  async accountsOf(tx: Transaction, network: string): Promise<number> {
    return (await tx.row<{ accounts: number }>(countAccounts, [network]))?.accounts ?? 0;
  }

  async recordSignIn(networks: readonly string[], userId: string): Promise<void> {
    await this.database.run(recordSignIn, [networks, userId]);
  }

  /** Deletes a batch of counts that expired. Returns their number. */
  async deleteExpired(database: Database): Promise<number> {
    return (await database.run(deleteExpired)) + (await database.run(deleteOldSignIns));
  }
}
