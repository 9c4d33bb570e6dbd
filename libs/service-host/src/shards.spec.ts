import { jest } from '@jest/globals';
import { statement, Database, createDataSource } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { createLogger } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import { allShards, shardSql, Shards } from './shards.js';

const shardsOfUuids = statement(
  'test.shards',
  `SELECT DISTINCT ${shardSql('id')} AS shard FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 2000)) AS ids
   ORDER BY 1`,
);
/** The locks of shards.ts in this database: 7391060 is their class, and the keys 0 to 15 are the shards. */
const shardLocks = `locktype = 'advisory' AND classid = 7391060 AND objid < 16
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const endSessionsOfShard = statement(
  'test.end-sessions',
  `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE ${shardLocks} AND objid = $1`,
);
const holders = statement(
  'test.holders',
  `SELECT objid::int AS shard, count(*)::int AS holders FROM pg_locks WHERE ${shardLocks} AND granted
   GROUP BY 1 ORDER BY 1`,
);
const sessions = statement(
  'test.sessions',
  `SELECT DISTINCT pid, xact_start::text AS began, state_change::text AS changed
   FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE ${shardLocks} AND state = 'idle in transaction'
   ORDER BY pid`,
);
const readMaxPause = statement(
  'test.max-pause',
  "SELECT current_setting('idle_in_transaction_session_timeout') AS pause",
);
const logger = createLogger('test', 'silent');

describe('the shards of a service', () => {
  let scratch: ScratchDatabase;
  let replicas: Shards[] = [];
  beforeAll(async () => {
    scratch = await scratchDatabase([]);
  });
  afterAll(() => scratch.drop());
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    replicas = [];
  });

  const start = (first = 0, { maxPauseMs = 60_000, database = scratch.database } = {}): Shards => {
    const replica = new Shards(database, logger, { first, maxPauseMs });
    replica.start();
    replicas.push(replica);
    return replica;
  };
  /** Renews all replicas until they own these numbers of shards, and no shard has two owners. */
  const untilOwned = (...counts: number[]) =>
    eventually(() => {
      for (const replica of replicas) replica.wake();
      const owned = replicas.flatMap((replica) => replica.owned);
      const isDivided =
        new Set(owned).size === owned.length &&
        replicas.every((replica, index) => replica.owned.length === counts[index]);
      return isDivided;
    });

  it('all belong to the only replica', async () => {
    const replica = start(5);
    await untilOwned(16);
    expect(replica.owned).toEqual(allShards);
  });

  it('are divided evenly when replicas start, and each has one owner', async () => {
    start();
    await untilOwned(16);
    start(7);
    await untilOwned(8, 8);
    start(11);
    start(3);
    await untilOwned(4, 4, 4, 4);
    const held = await scratch.database.rows<{ shard: number; holders: number }>(holders);
    expect(held.every((row) => row.holders === 1)).toBe(true);
  });

  it('stay with their owners, in the same transactions, when nothing changes', async () => {
    const [one, other] = [start(), start(8)];
    await untilOwned(8, 8);
    // A session that is renewing at this moment is not idle.
    const readSessions = () =>
      eventually(async () => {
        const idle = await scratch.database.rows<{ pid: number; began: string; changed: string }>(sessions);
        return idle.length === 2 ? idle : undefined;
      });
    const before = { owned: [one.owned, other.owned], sessions: await readSessions() };
    let taken = 0;
    for (const replica of replicas) replica.onTaken(() => (taken += 1));
    const after = await eventually(async () => {
      for (const replica of replicas) replica.wake();
      const now = await readSessions();
      const haveAllRenewed = now.every(({ changed }, index) => changed !== before.sessions[index]?.changed);
      return haveAllRenewed ? now : undefined;
    });
    expect(after.map(({ began }) => began)).toEqual(before.sessions.map(({ began }) => began));
    expect([one.owned, other.owned]).toEqual(before.owned);
    expect(taken).toBe(0);
  });

  it('are taken over when their replica stops, and the new owner is notified', async () => {
    const [stopping, staying] = [start(), start(8)];
    await untilOwned(8, 8);
    const taken = new Promise<void>((resolve) => staying.onTaken(resolve));
    await stopping.stop();
    expect(stopping.owned).toEqual([]);
    replicas = [staying];
    await untilOwned(16);
    await taken;
  });

  it('are taken over when their replica has lost its connection and cannot connect', async () => {
    const dataSource = createDataSource({
      url: scratch.url,
      poolSize: 1,
      applicationName: 'dying',
      migrations: [],
    });
    await dataSource.initialize();
    const dying = start(0, { database: new Database(dataSource) });
    const staying = start(8);
    await untilOwned(8, 8);
    replicas = [staying]; // `untilOwned` no longer renews the dying one
    const [shard] = dying.owned;
    await scratch.database.rows(endSessionsOfShard, [shard]);
    await dataSource.destroy();
    await untilOwned(16);
    dying.wake();
    await eventually(() => dying.owned.length === 0);
    await dying.stop();
  });

  it('are freed by PostgreSQL when their process pauses for longer than maxPauseMs', async () => {
    const suspended = start(0, { maxPauseMs: 10 }); // less than the time between two rounds
    await eventually(() => suspended.owned.length > 0);
    replicas = []; // `untilOwned` does not renew the suspended one
    const other = start(8);
    try {
      await untilOwned(16);
    } finally {
      await suspended.stop();
      await other.stop();
    }
  });

  it('are renewed every second, and freed by PostgreSQL if their process pauses for longer than six seconds', async () => {
    const transaction = scratch.database.begin();
    const begin = jest.spyOn(scratch.database, 'begin').mockReturnValueOnce(transaction);
    const sleep = jest.spyOn(globalThis, 'setTimeout');
    const replica = new Shards(scratch.database, logger);
    replica.start();
    try {
      await eventually(() => replica.owned.length > 0);
      await eventually(() => sleep.mock.calls.some(([, ms]) => ms === 1_000));
      expect(await (await transaction).tx.row(readMaxPause)).toEqual({ pause: '6s' });
    } finally {
      await replica.stop();
      begin.mockRestore();
      sleep.mockRestore();
    }
  });

  it('each get some of 2000 random UUIDs, by hash', async () => {
    const found = await scratch.database.rows<{ shard: number }>(shardsOfUuids);
    expect(found.map(({ shard }) => shard)).toEqual(allShards);
  });
});
