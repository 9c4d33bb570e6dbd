import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import type { Span } from '@fulfilment/runtime';
import {
  type CommitProbe,
  type Sql,
  statement,
  type Statement,
  type Transaction,
  type Values,
} from './sql.js';
import type { BeginOptions } from './transactions/begin-transaction.js';
import { hasSqlState, translateAndThrow } from './driver-errors.js';
import { poolOf } from './connection/pg-internals.js';
import { OpenTransaction } from './transactions/open-transaction.js';
import { type Queryable, rows, run } from './queryable.js';
import { inStatementSpan, startTransactionSpan } from './spans.js';

/** Time to find out whether a commit without a response succeeded: enough for a crashed server to restart. */
const commitOutcomeTimeoutMs = 8_000;
const retryDelayMs = 50;
const invalidParameterValue = '22023';
const readTransactionStatus = statement(
  'database.transaction-status',
  'SELECT pg_xact_status($1::text::xid8) AS status',
);

export interface TransactionOptions {
  /**
   * Query that shows, if the connection is lost at COMMIT, whether the transaction was committed. Without it,
   * such a commit counts as failed, although it may have succeeded. For work that must not run twice.
   */
  readonly commitProbe?: CommitProbe;
  /**
   * All statements read the state that the first one sees; writes are rejected (REPEATABLE READ, READ ONLY).
   * For a response of several statements. It costs no round trip and never causes a serialisation failure.
   */
  readonly snapshot?: boolean;
  /** Timeout of each statement, shorter than the pool's. It is sent with BEGIN, so it costs no round trip. */
  readonly statementTimeoutMs?: number;
  /** The span of the work, if it is recorded; by default the span of the current context. */
  readonly span?: Span | undefined;
}

/** Statement timeout for a page of a list: the slow list of a tenant must not hold connections (ADR 22). */
export const listTimeoutMs = 2_000;

/** Nest's token for the `Database` of consumers, loops and jobs. HTTP requests cannot exhaust its pool. */
export const BACKGROUND_DATABASE = Symbol('BACKGROUND_DATABASE');

/**
 * Runs named statements on TypeORM's own pool. `dataSource.query` cannot name a statement, so PostgreSQL
 * would plan each execution, which costs almost half of the throughput (ADR 3).
 */
export class Database implements Sql {
  private readonly autocommit: Queryable = {
    query: (config) => inStatementSpan(config.name, () => this.pool.query(config).catch(translateAndThrow)),
  };

  constructor(private readonly dataSource: DataSource) {}

  /** @throws DependencyUnavailable before the first connection */
  private get pool(): Pool {
    if (!this.dataSource.isInitialized) throw new DependencyUnavailable('The database is not connected yet.');
    return poolOf(this.dataSource);
  }

  /** Sends a statement, for the readiness probe. */
  async ping(): Promise<void> {
    await this.pool.query('SELECT 1').catch(translateAndThrow);
  }

  async rows<Row>(statement: Statement, values: Values = []): Promise<Row[]> {
    return rows<Row>(this.autocommit, statement, values);
  }

  async row<Row>(statement: Statement, values: Values = []): Promise<Row | undefined> {
    return (await rows<Row>(this.autocommit, statement, values))[0];
  }

  async run(statement: Statement, values: Values = []): Promise<number> {
    return run(this.autocommit, statement, values);
  }

  /**
   * Returns rows, with a timeout shorter than the pool's. Sends the statement together with BEGIN.
   * @throws DependencyUnavailable on timeout
   */
  async rowsWithTimeout<Row>(
    statementTimeoutMs: number,
    statement: Statement,
    values: Values = [],
  ): Promise<Row[]> {
    let reading: Promise<Row[]> = Promise.resolve([]);
    await this.transaction(
      (tx) => {
        reading = tx.rows<Row>(statement, values);
        tx.awaitAtCommit(reading); // COMMIT does not wait for the rows
        return Promise.resolve();
      },
      { statementTimeoutMs },
    );
    return reading;
  }

  /**
   * Runs `work` in a transaction (READ COMMITTED, unless it is a snapshot). Rolls back and rethrows when
   * `work` throws. Deadlocks and serialisation failures are not retried here, so lock rows in one order.
   */
  async transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    const { commitProbe, ...begin } = options;
    const open = await this.begin({ ...begin, returnId: commitProbe !== undefined });
    let result: Result;
    try {
      result = await (open.span === undefined ? work(open.tx) : open.span.run(() => work(open.tx)));
    } catch (error) {
      await open.rollback();
      throw error;
    }
    await open.commit(commitProbe);
    return result;
  }

  /**
   * Opens a transaction that the caller ends, for work that does not fit one function. It holds a connection
   * until then. BEGIN is sent together with the statements of the same tick.
   *
   * @param options `returnId` is required for `commit(probe)`
   */
  async begin(options: BeginOptions & Pick<TransactionOptions, 'span'> = {}): Promise<OpenTransaction> {
    const span = startTransactionSpan(options.span);
    const client = await this.pool.connect().catch((error: unknown) => {
      span?.endFailed('no_connection');
      return translateAndThrow(error);
    });
    return new OpenTransaction(client, options, span, (id, probe) => this.wasCommitted(id, probe));
  }

  /**
   * Waits until PostgreSQL reports that the transaction has ended, then runs the probe. The probe decides: a
   * server that crashes before it writes its log reuses the last transaction ids, so the reported status may
   * belong to another transaction. Returns false if the outcome stays unknown for 8 s.
   */
  private async wasCommitted(id: string, probe: CommitProbe): Promise<boolean> {
    const endsAtMs = performance.now() + commitOutcomeTimeoutMs;
    while (performance.now() < endsAtMs) {
      const status = await this.readStatus(id);
      if (status !== undefined && status !== 'in progress') {
        const found = await this.rows(probe.statement, probe.values).catch(() => undefined);
        if (found !== undefined) return found.length > 0;
      }
      await delay(retryDelayMs);
    }
    return false;
  }

  /** Returns undefined while PostgreSQL does not report a status, and null for an id it does not know. */
  private async readStatus(id: string): Promise<string | null | undefined> {
    try {
      return (await this.row<{ status: string | null }>(readTransactionStatus, [id]))?.status;
    } catch (error) {
      const isUnknownId = hasSqlState(error, [invalidParameterValue]); // a crashed server may lose ids
      return isUnknownId ? null : undefined;
    }
  }
}
