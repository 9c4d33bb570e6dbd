import {
  Database,
  ReadDatabase,
  statement,
  type Transaction,
  type TransactionOptions,
} from '@fulfilment/database';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { callerScope } from './caller-scope.rules.js';

const setCallerRole = statement(
  'visibility.set-role',
  `SELECT set_config('suite.organisation_id', $1, true), set_config('role', $2, true)`,
);

/**
 * The access of requests to the database; only order feeds are written without it (`OrderFeeds`).
 * Transactions run as a PostgreSQL role that owns no table, so row-level security hides every row that the
 * caller may not see from any query. A lint rule prevents use cases of requests from injecting the pool.
 */
@Injectable()
export class Visibility {
  constructor(
    private readonly database: Database,
    private readonly reads: ReadDatabase,
  ) {}

  /** Runs a transaction with the role and the organisation of the caller. */
  transaction<Result>(caller: Caller, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return run(this.database, caller, work, {});
  }

  /** Runs a read-only transaction, whose statements all read one snapshot. */
  snapshot<Result>(caller: Caller, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return run(this.database, caller, work, { snapshot: true });
  }

  /**
   * Like `snapshot`, on the read replica if there is one, for lists and statistics (ADR 42). Not for streams:
   * if the replica cancels a long read, `work` runs a second time, on the primary.
   */
  readReplicaSnapshot<Result>(caller: Caller, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.reads.read((database) => run(database, caller, work, { snapshot: true }));
  }
}

function run<Result>(
  database: Database,
  caller: Caller,
  work: (tx: Transaction) => Promise<Result>,
  options: TransactionOptions,
): Promise<Result> {
  const { role, organisationId } = callerScope(caller);
  return database.transaction(async (tx) => {
    await tx.run(setCallerRole, [organisationId, role]);
    return work(tx);
  }, options);
}
