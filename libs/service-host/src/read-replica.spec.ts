import {
  createDataSource,
  type Database,
  ReadDatabase,
  statement,
  UnsuitableConnection,
} from '@fulfilment/database';
import { countReplicaReads, streamingReplica, type StreamingReplica } from '@fulfilment/database/testing';
import { createLogger, metrics, serviceSettings } from '@fulfilment/runtime';
import { eventually, storeUrl } from '@fulfilment/testing';
import { DatabasePools } from './database-pools.js';

const createNotes = statement('test.create-notes', 'CREATE TABLE notes (id int PRIMARY KEY)');
/** Returns the number of notes, which is the id of the new one. */
const write = statement(
  'test.write',
  'INSERT INTO notes SELECT count(*) + 1 FROM notes RETURNING id AS notes',
);
const readNotes = statement(
  'test.read',
  'SELECT count(*)::int AS notes, pg_is_in_recovery() AS replica FROM notes',
);
const wait = statement('test.wait', 'SELECT pg_sleep(10)');

const notes = (database: Database) => database.row<{ notes: number; replica: boolean }>(readNotes);

describe('reads of a service with a read replica', () => {
  let servers: StreamingReplica;
  let pools: DatabasePools;
  let primary: Database;
  let reads: ReadDatabase;

  const openPools = (readUrl: string, maxLagMs = 60_000) => {
    const config = serviceSettings.parse({
      PORT: '0',
      INTERNAL_PORT: '0',
      DATABASE_URL: servers.primaryUrl,
      REDIS_URL: 'redis://unused.example',
      RABBITMQ_URL: 'amqp://unused.example',
      BASE_URL: 'https://unused.example',
      AUTH_URL: 'https://unused.example',
    });
    const opened = new DatabasePools(
      { name: 'test', config, migrations: [] },
      createLogger('test', 'silent'),
    );
    const poolSize = 2;
    const database = opened.open('', poolSize);
    const replica = opened.openReplica({ url: readUrl, maxLagMs });
    return { opened, database, reads: new ReadDatabase(database, replica) };
  };
  const untilReplicaIsUsed = () => eventually(async () => (await reads.read(notes))?.replica === true);

  beforeAll(async () => {
    servers = await streamingReplica();
    ({ opened: pools, database: primary, reads } = openPools(servers.replicaUrl));
    await pools.connect();
    await primary.run(createNotes);
  });
  afterAll(async () => {
    await pools.close();
    await servers.stop();
  });

  it('show every write that was confirmed before, from the replica', async () => {
    await untilReplicaIsUsed();
    for (let round = 0; round < 20; round += 1) {
      const written = await primary.row<{ notes: number }>(write);
      expect(await reads.read(notes)).toEqual({ ...written, replica: true });
    }
  });

  it('use the primary while the replica does not replay, and the replica when it has caught up', async () => {
    const impatient = openPools(servers.replicaUrl, 50);
    await impatient.opened.connect();
    const before = await countReplicaReads();
    await servers.pauseReplay();
    const written = await primary.row<{ notes: number }>(write);
    const expected = { ...written, replica: false };
    expect(await impatient.reads.read(notes)).toEqual(expected);
    expect(await impatient.reads.read(notes)).toEqual(expected);
    expect((await countReplicaReads())['lagging']).toBe((before['lagging'] ?? 0) + 2);
    await eventually(async () => {
      await impatient.reads.read(notes);
      // A lag above 0.
      return / [1-9]\d*$/m.test(await metrics.getSingleMetricAsString('read_replica_lag_bytes'));
    });
    await servers.resumeReplay();
    await eventually(async () => (await impatient.reads.read(notes))?.replica === true);
    await impatient.opened.close();
  });

  it('wait for a replica that is only a little behind', async () => {
    await untilReplicaIsUsed();
    await servers.pauseReplay();
    const written = await primary.row<{ notes: number }>(write);
    const reading = reads.read(notes);
    await servers.resumeReplay();
    expect(await reading).toEqual({ ...written, replica: true });
  });

  it('use the primary while the replica is down, also when it goes down during a read', async () => {
    await untilReplicaIsUsed();
    let started = 0;
    const sleeping = reads.read(async (database) => {
      started += 1;
      if (started > 1) return notes(database); // the retry, on the primary
      return database.rows(wait);
    });
    await eventually(() => started > 0);
    await servers.stopReplica();
    expect(await sleeping).toMatchObject({ replica: false });
    expect(await reads.read(notes)).toMatchObject({ replica: false });
    await servers.startReplica();
    await untilReplicaIsUsed();
  });

  it('use the primary of a service that started before its replica', async () => {
    await servers.stopReplica();
    const early = openPools(servers.replicaUrl);
    await early.opened.connect();
    expect(await early.reads.read(notes)).toMatchObject({ replica: false });
    await servers.startReplica();
    await eventually(async () => (await early.reads.read(notes))?.replica === true);
    await early.opened.close();
  });

  it('use the primary when DATABASE_READ_URL leads to the primary itself, as after a failover', async () => {
    const replicaIsPrimary = openPools(servers.primaryUrl);
    await replicaIsPrimary.opened.connect();
    const before = await countReplicaReads();
    expect(await replicaIsPrimary.reads.read(notes)).toMatchObject({ replica: false });
    // A read that finds a primary at DATABASE_READ_URL is counted like one that finds a replica lagging.
    expect((await countReplicaReads())['lagging']).toBe((before['lagging'] ?? 0) + 1);
    await replicaIsPrimary.opened.close();
  });

  it('reject a server that is not a replica of the database', async () => {
    const foreign = openPools(storeUrl('TEST_POSTGRES_URL'));
    await expect(foreign.opened.connect()).rejects.toThrow(UnsuitableConnection);
    await foreign.opened.close();
  });

  it('never use a standby as the primary, until it is promoted', async () => {
    const settings = { url: servers.replicaUrl, poolSize: 1, applicationName: 'test', migrations: [] };
    const connect = () => createDataSource(settings).initialize();
    await expect(connect()).rejects.toThrow('PostgreSQL is a standby');
    await servers.promoteReplica(); // last: it no longer follows the primary
    const promoted = await eventually(() => connect().catch(() => undefined));
    expect(await promoted.query('SELECT pg_is_in_recovery() AS standby')).toEqual([{ standby: false }]);
    await promoted.destroy();
  });
});
