import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import type { OpenTransaction, Sql, Statement, Transaction } from './sql.js';

interface Queryable {
  query<Row extends QueryResultRow>(config: {
    name: string;
    text: string;
    values: unknown[];
  }): Promise<QueryResult<Row>>;
}

/** The service has not reached its database since it started. */
class DatabaseNotReached extends Error {
  readonly code = 'ECONNREFUSED';
  constructor() {
    super('The database was not reached yet.');
  }
}

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

  /**
   * One transaction (READ COMMITTED). Commits what `work` did, or rolls all of it back and throws what `work` threw.
   * A deadlock or serialisation failure is not retried here: statements lock rows in one order.
   */
  async transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const open = await this.begin();
    let result: Result;
    try {
      result = await work(open.tx);
    } catch (error) {
      await open.rollback();
      throw error;
    }
    await open.commit();
    return result;
  }

  /** Opens a transaction for work that has no single place. It holds a connection until it is ended. */
  async begin(): Promise<OpenTransaction> {
    const client = await this.pool.connect();
    const callbacks: (() => void)[] = [];
    let broken = false;
    // pg tells a connection that dies between two statements by an event; unheard, it would end the process.
    const onLost = (): void => {
      broken = true;
    };
    client.on('error', onLost);
    const release = (): void => {
      client.off('error', onLost);
      client.release(broken);
    };
    const rollback = async (): Promise<void> => {
      await client.query('ROLLBACK').catch(onLost);
      release();
    };
    try {
      await client.query('BEGIN');
    } catch (error) {
      await rollback();
      throw error;
    }
    return {
      tx: transactionOn(client, callbacks),
      rollback,
      commit: async () => {
        try {
          await client.query('COMMIT');
        } catch (error) {
          await rollback();
          throw error;
        }
        release();
        for (const callback of callbacks) callback();
      },
    };
  }
}

function transactionOn(client: PoolClient, callbacks: (() => void)[]): Transaction {
  return {
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
  return (await on.query<Row>({ name, text, values: [...values] })).rows;
}

async function run(on: Queryable, { name, text }: Statement, values: readonly unknown[]): Promise<number> {
  return (await on.query({ name, text, values: [...values] })).rowCount ?? 0;
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
