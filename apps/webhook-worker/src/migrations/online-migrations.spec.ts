import { createDataSource, type Database, migrate, statement } from '@fulfilment/database';
import { createLogger } from '@fulfilment/runtime';
import { eventually, flakyProxy } from '@fulfilment/testing';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { DatabaseError } from 'pg';
import { AbstractLogger, type DataSource, QueryFailedError } from 'typeorm';
import { randomUUID } from 'node:crypto';
import { dayFromNow } from '../due-deliveries.fixture.js';
import { createDayPartitions } from '../history/day-partitions.js';
import { migrations } from './index.js';

const before = migrations.slice(0, 4);
/** Days with and without partitions of their own. */
const days = [dayFromNow(-1), dayFromNow(0), dayFromNow(3), dayFromNow(-9), dayFromNow(-20)];
const rowsOfDay = 1_000;

// Statements of an earlier version, which writes and claims deliveries.
const fanOut = statement(
  'test.fan-out',
  `WITH kept AS (
     INSERT INTO webhook_events (day, id, api_version, event, creator_id, occurred_at, body)
     SELECT $1, id, 'v', 'order.created', id, now(), '' FROM unnest($2::uuid[]) AS given(id) ON CONFLICT DO NOTHING
   )
   INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status, next_attempt_at)
   SELECT $1, id, $3, id, 'order.created', 'v', 'pending', now() FROM unnest($2::uuid[]) AS given(id) ON CONFLICT DO NOTHING`,
);
const claim = statement(
  'test.claim',
  `WITH due AS (
     SELECT day, id FROM webhook_deliveries
     WHERE subscription_id = $1 AND status IN ('pending', 'retrying') AND next_attempt_at <= now()
     ORDER BY next_attempt_at LIMIT 8 FOR UPDATE SKIP LOCKED
   )
   UPDATE webhook_deliveries d SET status = 'in_flight', next_attempt_at = NULL, lease_token = gen_random_uuid()
   FROM due, webhook_events e
   WHERE d.day = due.day AND d.id = due.id AND e.day = due.day AND e.id = d.event_id AND e.api_version = d.api_version`,
);
const count = statement(
  'test.count',
  'UPDATE webhook_subscriptions SET consecutive_failures = consecutive_failures + 1 WHERE id = ANY($1::uuid[])',
);
const subscribe = statement(
  'test.subscribe',
  `INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status, created_at)
   SELECT id, id, 'c', '', '{}', '', 'v', 'active', now() - interval '1 day' FROM unnest($1::uuid[]) AS given(id)`,
);
const authorizedLater = statement(
  'test.authorized-later',
  "SELECT id FROM webhook_subscriptions WHERE authorized_at <> date_trunc('second', created_at)",
);
const twice = statement(
  'test.twice',
  'SELECT day, id FROM webhook_deliveries GROUP BY day, id HAVING count(*) > 1',
);

let stores: ScratchDatabase;
let upToDate: ScratchDatabase;

beforeEach(async () => {
  [stores, upToDate] = await Promise.all([
    scratchDatabase(before, { forceGenericPlan: true }),
    scratchDatabase(migrations),
  ]);
  await Promise.all([makeDays(stores), makeDays(upToDate)]);
  for (const day of days) await stores.database.run(fanOut, [day, ids(rowsOfDay), ids(1)[0]]);
});
afterEach(() => Promise.all([stores.drop(), upToDate.drop()]));

describe('migrations since the keys that end with the day', () => {
  it('are applied without failures or long waits of concurrent old workers', async () => {
    const source = await sourceOf(stores.url);
    try {
      const longestMs = await withOldWorkers(async (progress) => {
        const migrated = await withOpenTransaction(progress, () => migrate(source));
        expect(migrated).toHaveLength(migrations.length - before.length);
      });
      expect(longestMs).toBeLessThan(5_000);
    } finally {
      await source.destroy();
    }
    expect(await stores.database.rows(twice)).toEqual([]);
    expect(await stores.database.rows(authorizedLater)).toEqual([]);
    expect(await schemaOf(stores)).toEqual(await schemaOf(upToDate));
  });

  it('are completed and reverted despite repeated interruptions', async () => {
    const restorePrior = await schemaOf(stores);
    const today = `webhook_deliveries_${dayFromNow(0).replaceAll('-', '_')}`;
    await stores.dataSource.query(`CREATE UNIQUE INDEX ${today}_id_day_idx ON ${today} (id, day)`);
    await stores.dataSource.query(
      `UPDATE pg_index SET indisvalid = false, indisready = false WHERE indexrelid = '${today}_id_day_idx'::regclass`,
    );
    expect(await interruptedUntilDone(stores.url, migrate)).toBeGreaterThan(5);
    expect(await schemaOf(stores)).toEqual(await schemaOf(upToDate));

    expect(await interruptedUntilDone(stores.url, undo)).toBeGreaterThan(5);
    expect(await schemaOf(stores)).toEqual(restorePrior);
    expect(await stores.database.rows(twice)).toEqual([]);
  });
});

/**
 * Runs old workers, none of whose statements may fail. `progress` waits for 50 more rounds. Returns the
 * longest duration.
 */
async function withOldWorkers(work: (progress: () => Promise<void>) => Promise<void>): Promise<number> {
  const workers = Array.from({ length: 4 }, () => new OldWorker(stores.database));
  const ends = workers.map((worker) => worker.run());
  const progress = async (): Promise<void> => {
    const goals = workers.map(({ rounds }) => rounds + 50);
    await eventually(() => workers.every(({ rounds }, index) => rounds >= (goals[index] ?? 0)) || undefined);
  };
  try {
    await progress();
    await work(progress);
  } finally {
    for (const worker of workers) worker.stop();
    await Promise.all(ends);
  }
  return Math.max(...workers.map(({ longestMs }) => longestMs));
}

/** Runs the change while a transaction is open, which ends after the old workers have progressed. */
async function withOpenTransaction<Result>(
  progress: () => Promise<void>,
  change: () => Promise<Result>,
): Promise<Result> {
  const writer = await stores.database.begin();
  await writer.tx.run(fanOut, [dayFromNow(0), ids(1), ids(1)[0]]);
  const progressed = progress().finally(() => writer.commit());
  const [result] = await Promise.all([change(), progressed]);
  return result;
}

/** Writes and claims deliveries, one statement after another, until it is stopped. */
class OldWorker {
  rounds = 0;
  longestMs = 0;
  private stopped = false;

  constructor(private readonly database: Database) {}

  async run(): Promise<void> {
    const subscriptions = ids(1_500);
    const [subscription] = subscriptions;
    await this.database.run(subscribe, [subscriptions]);
    while (!this.stopped) {
      const day = days[this.rounds % days.length];
      await this.timed(() => this.database.run(fanOut, [day, ids(3), subscription]));
      await this.timed(() => this.database.run(claim, [subscription]));
      await this.timed(() => this.database.run(count, [subscriptions.slice(0, 20)]));
      this.rounds += 1;
    }
  }

  stop(): void {
    this.stopped = true;
  }

  private async timed(work: () => Promise<unknown>): Promise<void> {
    const startedAt = performance.now();
    await work();
    this.longestMs = Math.max(this.longestMs, performance.now() - startedAt);
  }
}

class SilentLogger extends AbstractLogger {
  protected writeLog(): void {
    // Migrations fail here on purpose.
  }
}

function ids(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}

async function makeDays({ database, dataSource }: ScratchDatabase): Promise<void> {
  await createDayPartitions(database, createLogger('test', 'silent'));
  for (const table of ['webhook_deliveries', 'webhook_attempts', 'webhook_events']) {
    await dataSource.query(
      `CREATE TABLE ${table}_old (LIKE ${table} INCLUDING ALL);
       ALTER TABLE ${table} ATTACH PARTITION ${table}_old FOR VALUES FROM ('${dayFromNow(-9)}') TO ('${dayFromNow(-8)}')`,
    );
  }
}

async function sourceOf(url: string): Promise<DataSource> {
  const source = createDataSource({
    url,
    poolSize: 2,
    applicationName: 'test',
    migrations,
    statementTimeoutMs: 0,
  });
  source.logger = new SilentLogger();
  return source.initialize();
}

/** Reverts to the earlier schema. */
async function undo(source: DataSource): Promise<void> {
  const applied: unknown[] = await source.query('SELECT FROM schema_migrations');
  if (applied.length === before.length) return;
  await source.undoLastMigration({ transaction: applied.length === before.length + 1 ? 'none' : 'each' });
  await undo(source);
}

/** Interrupts the connection a little later each time. Returns the number of interruptions. */
async function interruptedUntilDone(
  url: string,
  work: (source: DataSource) => Promise<unknown>,
): Promise<number> {
  for (let times = 0; ; times += 1) {
    const proxy = await flakyProxy(url);
    const source = await sourceOf(proxy.url);
    try {
      proxy.severAfter(4 + 2 * times);
      await work(source);
      return times;
    } catch (error) {
      if (error instanceof QueryFailedError && error.driverError instanceof DatabaseError) throw error;
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  }
}

/**
 * Tables, their columns, constraints and indexes. The index of a partition is identified by its parent: its
 * own name is arbitrary.
 */
async function schemaOf({ dataSource }: ScratchDatabase): Promise<unknown> {
  return dataSource.query(`
    SELECT CASE WHEN c.relkind <> 'i' OR parent.inhparent IS NULL THEN c.relname ELSE i.indrelid::regclass || ' of ' || parent.inhparent::regclass END AS name,
      c.relkind, parent.inhparent::regclass::text AS parent, i.indisvalid,
      regexp_replace(pg_get_indexdef(i.indexrelid), 'INDEX \\S+ ON', 'INDEX ON') AS index,
      (SELECT array_agg(conname || ': ' || pg_get_constraintdef(oid) ORDER BY conname) FROM pg_constraint WHERE conrelid = c.oid) AS constraints,
      (SELECT array_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(d.adbin, d.adrelid)) ORDER BY attname)
       FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
       WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
    FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_inherits parent ON parent.inhrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace ORDER BY 1`);
}
