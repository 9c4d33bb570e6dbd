import pg from 'pg';
import { runSql } from '../dev/run-sql.ts';

/** Creates an empty database; one of this name is dropped first. @returns its URL */
export async function createEmptyDatabase(serverUrl: string, name: string): Promise<string> {
  await runSql(serverUrl, `DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
  await runSql(serverUrl, `CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** The database of a service under measurement; subclasses add and read its rows. */
export class BenchDatabase {
  /** Statements that `open` runs on the new connection. */
  static readonly setup: readonly string[] = [];
  protected readonly client: pg.Client;

  /** Connects to a database. Call it on a subclass, which it instantiates. */
  static async open<Database>(
    this: { new (client: pg.Client): Database; readonly setup: readonly string[] },
    databaseUrl: string,
  ): Promise<Database> {
    const client = new pg.Client(databaseUrl);
    client.on('error', () => undefined); // the next query rejects with the reason
    await client.connect();
    for (const statement of this.setup) await client.query(statement);
    return new this(client);
  }

  constructor(client: pg.Client) {
    this.client = client;
  }

  /** Returns how many pages statements have read, from memory or disk, as PostgreSQL has counted so far. */
  pagesRead(): Promise<number> {
    return this.readNumber(
      'SELECT blks_hit + blks_read AS number FROM pg_stat_database WHERE datname = current_database()',
    );
  }

  /** Returns how many messages were applied. */
  countApplied(): Promise<number> {
    return this.readNumber("SELECT count(*) AS number FROM inbox WHERE outcome = 'applied'");
  }

  async isApplied(messageId: string): Promise<boolean> {
    const applied = "SELECT FROM inbox WHERE message_id = $1 AND outcome = 'applied'";
    return (await this.client.query(applied, [messageId])).rowCount === 1;
  }

  /** Updates the statistics of the planner, and removes dead rows, as autovacuum does. */
  async vacuum(): Promise<void> {
    await this.client.query('VACUUM ANALYZE');
  }

  /** Reads the column `number` of the first row. */
  protected async readNumber(sql: string, values: readonly unknown[] = []): Promise<number> {
    const { rows } = await this.client.query<{ number: string | number }>(sql, [...values]);
    return Number(rows[0]?.number);
  }

  close(): Promise<void> {
    return this.client.end();
  }
}
