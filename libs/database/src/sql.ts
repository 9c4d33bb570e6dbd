/** A named SQL text. Because of its name, PostgreSQL parses and plans it once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** @param name unique in the service, `<feature>.<action>` */
export function statement(name: string, text: string): Statement {
  return { name, text };
}

/** Runs statements: on the pool, or inside one transaction. */
export interface Sql {
  rows<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns the first row, if there is one. */
  row<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row | undefined>;
  /** Returns the number of affected rows. */
  run(statement: Statement, values?: readonly unknown[]): Promise<number>;
}

/** One open transaction. */
export interface Transaction extends Sql {
  /**
   * Sends the last statements, issued in this tick, together with the commit. If one fails, nothing is
   * committed.
   */
  sendWithCommit(...statements: readonly Promise<unknown>[]): void;
  /** Calls back after the commit has succeeded; never when the transaction rolls back. */
  afterCommit(callback: () => void): void;
}

/** A query for a row that only one transaction writes: it shows whether the transaction was committed. */
export interface CommitProbe {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** A transaction that its caller ends, by exactly one call of `commit` or `rollback`. */
export interface OpenTransaction {
  readonly tx: Transaction;
  /**
   * Rolls back and rejects when it fails.
   * @param probe run if the connection is lost at COMMIT; without it, the commit then counts as failed
   */
  commit(probe?: CommitProbe): Promise<void>;
  rollback(): Promise<void>;
}
