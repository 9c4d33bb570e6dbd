import type { Connection, Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type OpenTransaction,
  type Sql,
  statement,
  type Statement,
  type Trace,
  type Transaction,
} from './sql.js';
import { arrayParameter } from './array-parameter.js';
import { beginTransaction, type BeginOptions } from './begin-transaction.js';
import { together } from './together.js';

interface NamedQuery {
  readonly name: string;
  readonly text: string;
  values: unknown[];
}
interface Queryable {
  query<Row extends QueryResultRow>(config: NamedQuery): Promise<QueryResult<Row>>;
}

/** How long a commit whose answer was lost is asked after: a server that crashed is back by then. */
const askAfterCommitMs = 8_000;
const askAgainMs = 50;
const invalidParameterValue = '22023';
const outcome = statement('database.outcome', 'SELECT pg_xact_status($1::text::xid8) AS status');

export interface TransactionOptions {
  /**
   * With it, a commit whose answer was lost with the connection is asked after before it counts as failed. For what cannot be
   * done a second time: somebody has already got what the transaction writes down.
   */
  readonly certain?: Trace;
  /**
   * All its statements see the database as it was at the first one, and none may write (REPEATABLE READ, READ ONLY): for an answer that takes
   * several. It says so as it begins, which costs no round trip; PostgreSQL never refuses to commit it.
   */
  readonly snapshot?: boolean;
  /** Ends each of its statements after this time, which is shorter than that of the pool. It is sent with BEGIN and costs no round trip. */
  readonly statementTimeoutMs?: number;
}

/** The service has not reached its database since it started. */
class DatabaseNotReached extends Error {
  readonly code = 'ECONNREFUSED'; // by which isOutage knows what may pass
  constructor() {
    super('The database was not reached yet.');
  }
}

/** A statement of the transaction failed, and whoever asked went on as if it had not. */
class RolledBack extends Error {
  constructor() {
    super('The transaction was rolled back: one of its statements had failed.');
  }
}

/** How long PostgreSQL may take for a page of a list: a list that one tenant made slow must not keep the connections of requests (docs/adr/0022). */
export const listTimeoutMs = 2_000;

/** Nest's token for the `Database` of consumers, background loops and jobs: requests use another pool and cannot exhaust this one. */
export const BACKGROUND_DATABASE = Symbol('BACKGROUND_DATABASE');

/**
 * Named SQL on TypeORM's own pool. `dataSource.query` cannot name a statement, so PostgreSQL would plan it anew
 * each time (0.44 of a bare server against 0.78 named: docs/adr/0003).
 */
export class Database implements Sql {
  private knownPool: Pool | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** @throws an outage while the database was not reached yet, which callers see as a 503 */
  private get pool(): Pool {
    if (!this.dataSource.isInitialized) throw new DatabaseNotReached();
    this.knownPool ??= poolOf(this.dataSource);
    return this.knownPool;
  }

  /** For the readiness probe. */
  async ping(): Promise<void> {
    await this.pool.query('SELECT 1');
  }

  async rows<Row extends QueryResultRow>(
    statement: Statement,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    return rows<Row>(this.pool, statement, values);
  }

  async row<Row extends QueryResultRow>(
    statement: Statement,
    values: readonly unknown[] = [],
  ): Promise<Row | undefined> {
    return (await rows<Row>(this.pool, statement, values))[0];
  }

  async run(statement: Statement, values: readonly unknown[] = []): Promise<number> {
    return run(this.pool, statement, values);
  }

  /** Rows that PostgreSQL must find within a time shorter than that of the pool. One round trip. @throws an outage when it takes longer */
  async rowsWithin<Row extends QueryResultRow>(
    statementTimeoutMs: number,
    statement: Statement,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    let reading: Promise<Row[]> = Promise.resolve([]);
    await this.transaction(
      (tx) => {
        reading = tx.rows<Row>(statement, values);
        tx.endWith(reading);
        return Promise.resolve();
      },
      { statementTimeoutMs },
    );
    return reading;
  }

  /**
   * One transaction (READ COMMITTED, unless it is a snapshot). Commits what `work` did, or rolls all of it back and throws what `work` threw.
   * A deadlock or serialisation failure is not retried here: statements lock rows in one order.
   */
  async transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    const open = await this.begin({
      askAfter: options.certain !== undefined,
      snapshot: options.snapshot,
      statementTimeoutMs: options.statementTimeoutMs,
    });
    let result: Result;
    try {
      result = await work(open.tx);
    } catch (error) {
      await open.rollback();
      throw error;
    }
    await open.commit(options.certain);
    return result;
  }

  /**
   * Opens a transaction for work that has no single place. It holds a connection until it is ended. Its beginning goes out with the first
   * statement, and statements that are asked for together go out together.
   *
   * @param options `askAfter`: a commit that is given a trace will be asked after when its answer is lost; `snapshot` as of `transaction`
   */
  async begin(options: BeginOptions = {}): Promise<OpenTransaction> {
    const client = await this.pool.connect();
    const callbacks: (() => void)[] = [];
    const last: Promise<unknown>[] = [];
    let broken = false;
    // pg tells a connection that dies between two statements by an event; unheard, it would end the process.
    const noticeLost = (): void => {
      broken = true;
    };
    client.on('error', noticeLost);
    const release = (): void => {
      client.off('error', noticeLost);
      client.release(broken);
    };
    const rollback = async (): Promise<void> => {
      if (!broken) await client.query('ROLLBACK').catch(noticeLost);
      release();
    };
    // What got no answer in time gets none, and what is sent after it would wait for the same.
    const noticeSilence = (error: unknown): never => {
      broken ||= error instanceof Error && error.message === 'Query read timeout';
      throw error;
    };
    const began = sendTogether(client, () => beginTransaction(client, options));
    began.catch(noticeLost); // the first statement fails for the same reason
    const query = <Row extends QueryResultRow>(config: NamedQuery) =>
      sendTogether(client, () => client.query<Row>(config)).catch(noticeSilence);
    return {
      tx: transactionOn({ query }, callbacks, last),
      rollback,
      commit: async (trace) => {
        let id: string | undefined;
        try {
          id = await began;
          const committing = sendTogether(client, () => client.query('COMMIT')).catch(noticeSilence);
          await together([...last, committing]);
          // Of a transaction in which a statement failed, PostgreSQL answers that it was rolled back.
          if ((await committing).command !== 'COMMIT') throw new RolledBack();
          release();
        } catch (error) {
          await rollback();
          if (error instanceof RolledBack || id === undefined || trace === undefined) throw error;
          if (!(await this.wasCommitted(id, trace))) throw error;
        }
        for (const callback of callbacks) callback();
      },
    };
  }

  /**
   * PostgreSQL's word says when the transaction is over, and its row whether it was committed: one that crashed before it wrote its log
   * gives the numbers of its last transactions to the next, and its word may be about another.
   */
  private async wasCommitted(id: string, { written, values }: Trace): Promise<boolean> {
    const endsAtMs = performance.now() + askAfterCommitMs;
    while (performance.now() < endsAtMs) {
      const status = await this.statusOf(id);
      if (status !== undefined && status !== 'in progress') {
        const found = await this.rows(written, values).catch(() => undefined);
        if (found !== undefined) return found.length > 0;
      }
      await delay(askAgainMs);
    }
    return false;
  }

  /** What PostgreSQL says of a transaction; undefined while it says nothing. */
  private async statusOf(id: string): Promise<string | null | undefined> {
    try {
      return (await this.row<{ status: string | null }>(outcome, [id]))?.status;
    } catch (error) {
      const unknownToIt = error instanceof Error && Reflect.get(error, 'code') === invalidParameterValue;
      return unknownToIt ? null : undefined; // a number that a crash took back is one of the future
    }
  }
}

/** Keeps what is sent within one turn of the event loop for one packet: each one more wakes a process at the other end. */
function sendTogether<T>(client: PoolClient, send: () => Promise<T>): Promise<T> {
  const stream = streamOf(client);
  stream.cork();
  process.nextTick(() => stream.uncork());
  return send();
}

/** The pool's clients are pg's `Client`, which shows its connection. */
function streamOf(client: PoolClient): Duplex {
  if ('connection' in client && isConnection(client.connection)) return client.connection.stream;
  throw new Error('pg no longer shows the connection of a client.');
}

function isConnection(value: unknown): value is Connection {
  return typeof value === 'object' && value !== null && 'stream' in value;
}

function transactionOn(client: Queryable, callbacks: (() => void)[], last: Promise<unknown>[]): Transaction {
  return {
    endWith: (...asked) => {
      for (const one of asked) one.catch(() => undefined); // heard of when the commit is
      last.push(...asked);
    },
    rows: (statement, values = []) => rows(client, statement, values),
    row: async <Row extends QueryResultRow>(statement: Statement, values: readonly unknown[] = []) =>
      (await rows<Row>(client, statement, values))[0],
    run: (statement, values = []) => run(client, statement, values),
    afterCommit: (callback) => callbacks.push(callback),
  };
}

async function rows<Row extends QueryResultRow>(
  on: Queryable,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  return (await on.query<Row>({ name, text, values: values.map(arrayParameter) })).rows;
}

async function run(on: Queryable, { name, text }: Statement, values: readonly unknown[]): Promise<number> {
  return (await on.query({ name, text, values: values.map(arrayParameter) })).rowCount ?? 0;
}

/** TypeORM keeps its pg pool as the driver's `master`: internal, so a test pins it. */
function poolOf(dataSource: DataSource): Pool {
  const pool: unknown = Reflect.get(dataSource.driver, 'master');
  if (!isPool(pool)) throw new Error('TypeORM no longer keeps its pg pool as driver.master.');
  return pool;
}

function isPool(value: unknown): value is Pool {
  return (
    typeof value === 'object' &&
    value !== null &&
    'connect' in value &&
    'query' in value &&
    'totalCount' in value
  );
}
