import { createDataSource, type Database, migrate, statement } from '../index.js';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { scratchDatabase } from './scratch-database.js';
import { withClient } from './with-client.js';

type Migration = new () => MigrationInterface;

/** Lock timeout of the simulated writes; a shorter one would fail on a busy machine. */
const defaultTrafficTimeout = '20s';
/** Rounds of traffic over all tables that must complete while the migration waits for an open write. */
const roundsDuringWrite = 2;
/** The longest allowed `lock_timeout`: other statements wait behind a migration that waits for a lock. */
const maxLockTimeoutMs = 2_000;
const pollIntervalMs = 5;

const findTables = statement(
  'test.find-tables',
  `SELECT array_agg(oid::regclass::text ORDER BY oid) AS names FROM pg_class
   WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'schema_migrations'`,
);
const findMigrationWait = statement(
  'test.migration-waits',
  `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'migrate'
                  AND wait_event_type = 'Lock') AS waits`,
);
const readScans = `SELECT relid::regclass::text AS name, seq_scan::int AS scans FROM pg_stat_xact_user_tables`;
const findBlockingLocks = `
  SELECT DISTINCT l.relation::regclass::text AS name FROM pg_locks l
  WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND l.relation::regclass::text = ANY($1::text[])
    AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') ORDER BY 1`;
const readLockTimeout = "SELECT setting::int AS ms FROM pg_settings WHERE name = 'lock_timeout'";

/**
 * Applies migrations to an empty database and returns a sentence for each way in which a migration would
 * block a running service. Finds two kinds of problems, independently of table sizes:
 * - Locks: a transaction that blocks readers or writers of an existing table while it reads a whole table or
 *   builds an index, or that waits for locks without a short lock_timeout.
 * - Traffic: a table that cannot be written in time while a migration waits for an open transaction.
 * @param options.trafficTimeout the time for a write; by default 20 s
 */
export async function findBlockingMigrations(
  migrations: readonly Migration[],
  { trafficTimeout = defaultTrafficTimeout } = {},
): Promise<readonly string[]> {
  const scratch = await scratchDatabase([]);
  const traffic = new Traffic(scratch.database, scratch.url, trafficTimeout);
  const problems: string[] = [];
  const watched = migrations.map((migration) => watch(migration, traffic, problems));
  const source = createDataSource({
    url: scratch.url,
    poolSize: 2,
    applicationName: 'migrate',
    migrations: watched,
    workload: 'operator',
  });
  try {
    await source.initialize();
    await migrate(source);
  } finally {
    try {
      if (source.isInitialized) await source.destroy();
      await traffic.stop();
    } finally {
      await scratch.drop();
    }
  }
  return [...new Set([...problems, ...traffic.problems])];
}

/** Wraps a migration to report its effects on the tables that existed before it. */
function watch(migration: Migration, traffic: Traffic, problems: string[]): Migration {
  const original = new migration();
  const name = original.name ?? migration.name;
  return class implements MigrationInterface {
    readonly name = name;
    // TypeORM's default if the original does not set it.
    readonly transaction: boolean = original.transaction ?? true;

    async up(runner: QueryRunner): Promise<void> {
      const before = await traffic.begin(name);
      const watcher = new Watcher(runner, name, before, problems);
      if (this.transaction) await watcher.onTransactionStart(); // TypeORM has begun it
      await original.up(watcher.runner);
      if (this.transaction) await watcher.beforeCommit(); // TypeORM commits after `up`
      traffic.end();
    }

    async down(): Promise<void> {}
  };
}

/**
 * Inspects each transaction of a migration before its commit. Wraps statements outside of a transaction in
 * one. A migration must begin transactions by methods of its query runner, which call
 * `query` of the proxy: a raw BEGIN is not recognised.
 */
class Watcher {
  /** The query runner that the migration uses. */
  readonly runner: QueryRunner;
  private scansBefore: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly base: QueryRunner,
    private readonly migration: string,
    private readonly tablesBefore: readonly string[],
    private readonly problems: string[],
  ) {
    this.runner = new Proxy(base, {
      get: (target, name, receiver): unknown => {
        if (name !== 'query') return Reflect.get(target, name, receiver);
        return (text: string, parameters?: unknown[]) => this.query(text, parameters);
      },
    });
  }

  /** Call after a transaction has begun, before its first statement. */
  async onTransactionStart(): Promise<void> {
    this.scansBefore = await this.scansNow();
  }

  /** Reports the problems of a transaction. */
  async beforeCommit(): Promise<void> {
    const blocked = await this.rows<{ name: string }>(findBlockingLocks, [this.tablesBefore]);
    const scansNow = await this.scansNow();
    const [{ ms: lockTimeoutMs } = { ms: 0 }] = await this.rows<{ ms: number }>(readLockTimeout);
    if (blocked.length > 0 && lockTimeoutMs === 0) this.report('waits for locks without a lock_timeout');
    if (blocked.length > 0 && lockTimeoutMs > maxLockTimeoutMs)
      this.report(`waits for locks for up to ${lockTimeoutMs} ms`);
    const read = this.tablesBefore.filter(
      (name) => (scansNow.get(name) ?? 0) > (this.scansBefore.get(name) ?? 0),
    );
    if (blocked.length > 0 && read.length > 0) {
      const names = blocked.map(({ name }) => name).join(', ');
      this.report(`reads all of ${read.join(', ')} while it blocks ${names}`);
    }
  }

  /** Recognises the texts with which TypeORM begins and commits a transaction. */
  private async query(text: string, parameters?: unknown[]): Promise<unknown> {
    if (/^\s*COMMIT\b/i.test(text)) await this.beforeCommit();
    const execute = (): Promise<unknown> => this.base.query(text, parameters);
    if (/^\s*START TRANSACTION\b/i.test(text)) {
      const started = await execute();
      await this.onTransactionStart();
      return started;
    }
    // Without LOCK, which PostgreSQL rejects outside of a transaction.
    const writesOrLocks =
      /^\s*(?:--.*\s*)*(?:CREATE|ALTER|DROP|REINDEX|TRUNCATE|UPDATE|DELETE|INSERT|MERGE|WITH|DO)\b/i.test(
        text,
      );
    if (!writesOrLocks || this.runner.isTransactionActive || /\bCONCURRENTLY\b/i.test(text)) return execute();
    await this.base.query('BEGIN');
    try {
      await this.onTransactionStart();
      const changed = await execute();
      await this.beforeCommit();
      await this.base.query('COMMIT');
      return changed;
    } catch (error) {
      await this.base.query('ROLLBACK');
      throw error;
    }
  }

  private async scansNow(): Promise<Map<string, number>> {
    const rows = await this.rows<{ name: string; scans: number }>(readScans);
    return new Map(rows.map(({ name, scans: count }) => [name, count]));
  }

  private report(problem: string): void {
    this.problems.push(`${this.migration} ${problem}`);
  }

  private async rows<Row>(text: string, parameters: unknown[] = []): Promise<Row[]> {
    const rows: unknown = await this.base.query(text, parameters);
    if (!areRows<Row>(rows)) throw new Error('A query returned no rows.');
    return rows;
  }
}

/** The caller's query determines the types of the columns. */
function areRows<Row>(value: unknown): value is Row[] {
  return Array.isArray(value);
}

/**
 * Takes the lock of a write on every table during the migrations, and holds these locks in an open
 * transaction at the start of each migration.
 */
class Traffic {
  readonly problems: string[] = [];
  private readonly stopped = new AbortController();
  /** The migration that runs, or ran last. */
  private currentMigration = '';
  /** The tables that existed before it. */
  private tables: readonly string[] = [];
  private completedRounds = 0;
  private isMigrating = false;
  private loop: Promise<void> | undefined;
  /** The open transaction that holds write locks. */
  private openWrite: Promise<void> | undefined;

  constructor(
    private readonly database: Database,
    private readonly url: string,
    private readonly timeout: string,
  ) {}

  /**
   * Starts the traffic on the tables that exist before a migration, and returns their names. A further call
   * for the same migration, whose transaction is retried, only returns the names.
   */
  async begin(migration: string): Promise<readonly string[]> {
    if (this.currentMigration === migration) return this.tables;
    await this.openWrite;
    this.currentMigration = migration;
    this.tables = (await this.database.row<{ names: string[] | null }>(findTables))?.names ?? [];
    this.loop ??= this.writeInRounds();
    if (this.tables.length > 0) await this.holdWriteLocks();
    return this.tables;
  }

  /** Call after a migration, which then no longer waits for the open transaction. */
  end(): void {
    this.isMigrating = false;
  }

  async stop(): Promise<void> {
    this.end(); // also after a failed migration
    try {
      await this.openWrite;
    } finally {
      this.stopped.abort();
      await this.loop;
    }
  }

  /**
   * Resolves when a transaction has the lock of a write on each table. It stays open until the migration
   * waits for it and the traffic has completed its rounds.
   */
  private async holdWriteLocks(): Promise<void> {
    this.isMigrating = true;
    const locked = Promise.withResolvers<void>();
    this.openWrite = withClient(this.url, async (client) => {
      await client.query('BEGIN');
      for (const name of this.tables) await this.takeWriteLock(client, name);
      locked.resolve();
      while (this.isMigrating && !(await this.migrationWaits())) await delay(pollIntervalMs);
      const until = this.completedRounds + roundsDuringWrite;
      while (this.isMigrating && this.completedRounds < until) await delay(pollIntervalMs);
      await client.query('COMMIT');
    });
    await Promise.race([locked.promise, this.openWrite]); // `openWrite` rejects if it cannot connect
  }

  private async migrationWaits(): Promise<boolean> {
    return (await this.database.row<{ waits: boolean }>(findMigrationWait))?.waits ?? false;
  }

  private async writeInRounds(): Promise<void> {
    await withClient(this.url, async (client) => {
      while (!this.stopped.signal.aborted) {
        for (const name of this.tables) {
          await client.query('BEGIN');
          await this.takeWriteLock(client, name);
          await client.query('ROLLBACK');
        }
        this.completedRounds += 1;
        await delay(pollIntervalMs);
      }
    });
  }

  /** Takes the lock that INSERT, UPDATE and DELETE take. Readers need a weaker one. */
  private async takeWriteLock(client: pg.Client, name: string): Promise<void> {
    try {
      await client.query(
        `SAVEPOINT write_lock; SET LOCAL lock_timeout = '${this.timeout}'; LOCK TABLE ${name} IN ROW EXCLUSIVE MODE`,
      );
    } catch (error) {
      await client.query('ROLLBACK TO SAVEPOINT write_lock');
      const code = error instanceof pg.DatabaseError ? error.code : undefined;
      if (code === '42P01') return; // dropped by the migration
      this.problems.push(
        `${this.currentMigration} blocks ${name} for longer than ${this.timeout} (${code ?? String(error)})`,
      );
    }
  }
}
