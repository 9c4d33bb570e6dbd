import type { PoolClient, QueryResult, QueryResultRow } from 'pg';
import { pipelined } from './pipelined.js';
import { beginTransaction, type BeginOptions } from './begin-transaction.js';
import {
  isConnectionFailure,
  isErrorResponse,
  isReadOnlyServer,
  translateAndThrow,
} from '../driver-errors.js';
import { sendInOnePacket } from '../connection/pg-internals.js';
import { type NamedQuery, type Queryable, rows, run } from '../queryable.js';
import type { TransactionSpan } from '../spans.js';
import type { CommitProbe, Statement, Transaction, Values } from '../sql.js';

/** A statement failed but the caller swallowed its error, so PostgreSQL rolled the transaction back. */
class TransactionRolledBack extends Error {
  constructor() {
    super('The transaction was rolled back because one of its statements failed.');
  }
}

/** A transaction that its caller ends by one call of `commit` or `rollback`, which frees its connection. */
export class OpenTransaction {
  readonly tx: Transaction;
  private readonly afterCommit: (() => void)[] = [];
  /** The statements that are awaited together with COMMIT. */
  private readonly finalStatements: Promise<unknown>[] = [];
  /** Resolves when BEGIN has succeeded, to the id of the transaction if `returnId` is set. */
  private readonly began: Promise<string | undefined>;
  private isBroken = false;
  private isEnding = false;

  /** Sends BEGIN together with the statements of the same tick. */
  constructor(
    private readonly client: PoolClient,
    private readonly options: BeginOptions,
    readonly span: TransactionSpan | undefined,
    /** Finds out whether it was committed, after its connection was lost at COMMIT. */
    private readonly wasCommitted: (id: string, probe: CommitProbe) => Promise<boolean>,
  ) {
    // pg emits an event when a connection dies between two statements. Unhandled, it would end the process.
    client.on('error', this.markBroken);
    this.began = sendInOnePacket(client, () => beginTransaction(client, options));
    this.began.catch(this.markBroken); // the first statement fails for the same reason
    this.tx = this.newTransaction();
  }

  /**
   * Commits. Rejects when that fails, unless the probe shows that it was committed.
   * @param probe run if the outcome is unknown, as after a lost connection. Without a
   *   probe, an unknown outcome counts as a failed commit
   */
  async commit(probe?: CommitProbe): Promise<void> {
    if (probe !== undefined && this.options.returnId !== true)
      throw new Error('A commit probe requires a transaction with `returnId`.');
    const began = this.began.catch(translateAndThrow);
    let id: string | undefined;
    try {
      // Without an id, COMMIT does not wait for BEGIN.
      if (this.options.returnId === true) id = await began;
      await pipelined([began, this.sendCommit()]);
      this.release();
    } catch (error) {
      await this.rollbackAndRelease(); // sends nothing if the connection was lost
      const isRolledBack = error instanceof TransactionRolledBack || isErrorResponse(error);
      if (isRolledBack || !(await this.probeShowsCommit(id, probe))) {
        this.span?.endFailed('rollback');
        throw error;
      }
    }
    this.span?.endCommitted();
    for (const callback of this.afterCommit) callback();
  }

  async rollback(): Promise<void> {
    await this.rollbackAndRelease();
    this.span?.endFailed('rollback');
  }

  /** @param id undefined if BEGIN failed */
  private async probeShowsCommit(id: string | undefined, probe: CommitProbe | undefined): Promise<boolean> {
    if (id === undefined || probe === undefined) return false;
    return this.wasCommitted(id, probe);
  }

  private async rollbackAndRelease(): Promise<void> {
    this.isEnding = true;
    if (!this.isBroken) await this.client.query('ROLLBACK').catch(this.markBroken);
    this.release();
  }

  private newTransaction(): Transaction {
    const client: Queryable = { query: (config) => this.query(config) };
    return {
      rows: (statement, values = []) => rows(client, statement, values),
      row: async <Row>(statement: Statement, values: Values = []) =>
        (await rows<Row>(client, statement, values))[0],
      run: (statement, values = []) => run(client, statement, values),
      awaitAtCommit: (...pendingStatements) => {
        for (const pending of pendingStatements) pending.catch(() => undefined); // the commit reports it
        this.finalStatements.push(...pendingStatements);
      },
      afterCommit: (callback) => this.afterCommit.push(callback),
    };
  }

  private query<Row extends QueryResultRow>(config: NamedQuery): Promise<QueryResult<Row>> {
    // After COMMIT or ROLLBACK, it would run alone, or in another transaction of this connection.
    if (this.isEnding) return Promise.reject(new Error('The transaction has ended.'));
    this.span?.addStatement(config.name);
    return sendInOnePacket(this.client, () => this.client.query<Row>(config)).catch(this.failStatement);
  }

  private async sendCommit(): Promise<void> {
    this.isEnding = true;
    const committing = sendInOnePacket(this.client, () => this.client.query('COMMIT')).catch(
      this.failStatement,
    );
    await pipelined([...this.finalStatements, committing]);
    // If a statement of the transaction failed, PostgreSQL responds to COMMIT with ROLLBACK.
    if ((await committing).command !== 'COMMIT') throw new TransactionRolledBack();
  }

  private readonly failStatement = (error: unknown): never => {
    // A snapshot is read-only: the caller's own write causes this error.
    if (this.options.snapshot === true && isReadOnlyServer(error)) throw error;
    // On a failed connection, later statements would wait for the missing response. A server that accepts no
    // writes is no longer the primary.
    this.isBroken ||= isConnectionFailure(error) || isReadOnlyServer(error);
    return translateAndThrow(error);
  };

  private readonly markBroken = (): void => {
    this.isBroken = true;
  };

  private release(): void {
    this.client.off('error', this.markBroken);
    this.client.release(this.isBroken);
  }
}
