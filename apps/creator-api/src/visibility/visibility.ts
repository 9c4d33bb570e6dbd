import { type Database, statement, type Transaction } from '@fulfilment/database';
import type { Caller } from '@fulfilment/http-service';
import { sightOf } from './sight.rules.js';

const becomeCaller = statement(
  'visibility.become',
  `SELECT set_config('suite.organisation_id', $1, true), set_config('role', $2, true)`,
);

/**
 * The only way from a request to the database. What runs inside runs as a PostgreSQL role that owns nothing, so row-level
 * security hides every row the caller may not see: a query cannot forget to ask. The pool itself is not among Nest's
 * providers; a use case that asks for it does not start.
 */
export class Visibility {
  constructor(private readonly database: Database) {}

  /** One transaction under the caller's identity; role and organisation end with it. */
  as<Result>(who: Caller, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.see(who, work, {});
  }

  /** The same for what only reads: an answer that takes several statements is of one moment. */
  reading<Result>(who: Caller, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.see(who, work, { snapshot: true });
  }

  private see<Result>(
    who: Caller,
    work: (tx: Transaction) => Promise<Result>,
    options: Parameters<Database['transaction']>[1],
  ): Promise<Result> {
    const { role, organisationId } = sightOf(who);
    return this.database.transaction(async (tx) => {
      await tx.run(becomeCaller, [organisationId, role]);
      return work(tx);
    }, options);
  }
}
