import { Injectable } from '@nestjs/common';
import { Database, statement, type Transaction } from '@fulfilment/database';
import type { GuessCount } from './guess-limits.rules.js';

/** `unknown`: the guess could not be verified, and does not count. */
export type GuessOutcome = 'correct' | 'wrong' | 'unknown';

/** A guess whose process died counts as in progress for this time. */
const guessTimeoutSeconds = 30;
const batchSize = 1000;
/** Maximum number of accounts that raise the limit of a network; more would make the limit meaningless. */
const maxCountedAccounts = 1000;

// Callers lock subjects in alphabetical order, as the end of a guess does, so that guesses cannot deadlock.
const lockCount = statement(
  'guess-counts.lock',
  `INSERT INTO guess_counts AS count (subject) VALUES ($1)
   ON CONFLICT (subject) DO UPDATE SET
     failed = CASE WHEN count.expires_at > now() THEN count.failed ELSE 0 END,
     trying = CASE WHEN count.trying_until > now() THEN count.trying ELSE 0 END
   RETURNING failed, trying,
     coalesce(extract(epoch FROM now() - failed_at)::float8, 'infinity') AS "secondsSinceFailure",
     extract(epoch FROM expires_at - now())::float8 AS "secondsLeft"`,
);
const beginGuess = statement(
  'guess-counts.begin',
  `UPDATE guess_counts SET trying = trying + 1, trying_until = now() + interval '${guessTimeoutSeconds} seconds'
   WHERE subject = ANY ($1)`,
);
// The count of an account in all networks (`everywhere:`) expires a window after its last failure; every
// other count expires a window after its first.
const endGuess = statement(
  'guess-counts.end',
  `WITH locked AS MATERIALIZED (
     SELECT subject FROM guess_counts WHERE subject = ANY (:subjects) ORDER BY subject FOR UPDATE)
   UPDATE guess_counts AS count SET
     trying = greatest(0, trying - 1),
     failed = CASE
       WHEN :outcome = 'wrong' AND expires_at > now() THEN failed + 1
       WHEN :outcome = 'wrong' THEN 1
       WHEN :outcome = 'correct' AND count.subject = :reset_by_correct THEN 0
       ELSE failed END,
     failed_at = CASE WHEN :outcome = 'wrong' THEN now() ELSE failed_at END,
     expires_at = CASE
       WHEN :outcome = 'wrong' AND (failed = 0 OR expires_at <= now() OR starts_with(count.subject, 'everywhere:'))
         THEN now() + :window_seconds * interval '1 second'
       ELSE expires_at END
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
 * Counts guesses by subject. The counts are in PostgreSQL, so that all replicas share them and no guess is
 * uncounted: a sign-in needs PostgreSQL in any case.
 */
@Injectable()
export class GuessCounts {
  constructor(private readonly database: Database) {}

  /** Locks the row of a subject until the transaction ends, and returns its counts. */
  async lock(tx: Transaction, subject: string): Promise<GuessCount> {
    const count = await tx.row<GuessCount>(lockCount, [subject]);
    if (count === undefined) throw new Error('The count was not stored.');
    return count;
  }

  /** Begins a guess. The caller has locked the subjects. */
  async begin(tx: Transaction, subjects: readonly string[]): Promise<void> {
    await tx.run(beginGuess, [subjects]);
  }

  /** Ends a guess. */
  async end(guess: {
    readonly subjects: readonly string[];
    readonly resetByCorrect: string;
    readonly outcome: GuessOutcome;
    readonly windowSeconds: number;
  }): Promise<void> {
    await this.database.run(endGuess, {
      subjects: guess.subjects,
      reset_by_correct: guess.resetByCorrect,
      outcome: guess.outcome,
      window_seconds: guess.windowSeconds,
    });
  }

  /** Returns how many accounts signed in from a network within a day, at most `maxCountedAccounts`. */
  async accountsOf(tx: Transaction, network: string): Promise<number> {
    return (await tx.row<{ accounts: number }>(countAccounts, [network]))?.accounts ?? 0;
  }

  async recordSignIn(networks: readonly string[], userId: string): Promise<void> {
    await this.database.run(recordSignIn, [networks, userId]);
  }

  /** Deletes a batch of expired counts, and one of sign-ins older than a day. Returns their number. */
  async deleteExpired(database: Database): Promise<number> {
    return (await database.run(deleteExpired)) + (await database.run(deleteOldSignIns));
  }
}
