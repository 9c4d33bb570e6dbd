import type { QueryResultRow } from 'pg';

/** A named SQL text. PostgreSQL parses and plans it once a connection; the name is what makes it fast. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** @param name unique in the service, `feature.what` */
export function statement(name: string, text: string): Statement {
  return { name, text };
}

/** Runs statements: on the pool, or inside one transaction. */
export interface Sql {
  rows<Row extends QueryResultRow>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /** The first row, if there is one. */
  row<Row extends QueryResultRow>(
    statement: Statement,
    values?: readonly unknown[],
  ): Promise<Row | undefined>;
  /** How many rows it touched. */
  run(statement: Statement, values?: readonly unknown[]): Promise<number>;
}

/** One open transaction. */
export interface Transaction extends Sql {
  /** The last statements, asked for just now: they go out with the commit, which is none when one of them fails. */
  endWith(...asked: readonly Promise<unknown>[]): void;
  /** Calls back once the commit has succeeded; never when the transaction rolls back. */
  afterCommit(callback: () => void): void;
}

/** Finds a row that a transaction wrote, and no other transaction would. */
export interface Trace {
  readonly written: Statement;
  readonly values: readonly unknown[];
}

/** A transaction whose end somebody else decides. Exactly one of both must be called. */
export interface OpenTransaction {
  readonly tx: Transaction;
  /**
   * Rolls back and rejects when it fails.
   * @param trace tells whether it was made when its answer is lost; without, that is a failure
   */
  commit(trace?: Trace): Promise<void>;
  rollback(): Promise<void>;
}
