/** Tests of consumers while PostgreSQL is down, or slow for one of them. */
import type { Message } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { eventually, type FlakyProxy, flakyProxy } from '@fulfilment/testing';
import { type ScratchBroker, scratchBroker } from './testing/scratch-broker.js';
import { type ScratchDatabase, scratchDatabase } from '@fulfilment/database/testing';
import {
  appliedIds,
  EffectsTables1700000000000,
  type Replica,
  startReplica,
  stockCounts,
  stockSet,
} from './testing/effects-replica.js';

const queue = 'store-api.fulfilment';
const quick = { first: 1, last: 20 };

describe('a consumer', () => {
  let stores: ScratchDatabase;
  let broker: ScratchBroker;
  let line: FlakyProxy;
  let replicas: Replica[];

  beforeEach(async () => {
    stores = await scratchDatabase([EffectsTables1700000000000]);
    broker = await scratchBroker([queue]);
    line = await flakyProxy(stores.url);
    replicas = [];
  });
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await line.stop();
    await broker.drop();
    await stores.drop();
  });

  const start = async (
    settings: Partial<Parameters<typeof startReplica>[0]> & { databaseUrl: string },
  ): Promise<Replica> => {
    const replica = await startReplica({ url: broker.url, namespace: broker.namespace, queue, ...settings });
    replicas.push(replica);
    await eventually(() => replica.messaging.connected || undefined);
    return replica;
  };
  const applied = (count: number) =>
    eventually(
      async () => {
        const ids = await appliedIds(stores.database);
        return ids.length >= count ? ids : undefined;
      },
      20_000,
      () => `${count} effects`,
    );
  const ids = (sent: readonly Message[]) => sent.map(({ id }) => id);

  it.each(['is closed', 'goes silent'])(
    'returns its messages when its connection to PostgreSQL %s, and another replica applies them in order',
    async (how) => {
      await start({ databaseUrl: line.url, times: { returnAfterMs: 300, retryMs: quick } });
      const before = stockCounts(5);
      await broker.publish(...before);
      await applied(5); // the first replica is the active one
      await start({ databaseUrl: stores.url });
      if (how === 'is closed') line.disconnect();
      else line.discardData();
      const during = stockCounts(20);
      await broker.publish(...during);
      expect(await applied(25)).toEqual(ids([...before, ...during]));
      line.restore();
    },
    60_000,
  );

  it('resumes when its database is back', async () => {
    const { messaging } = await start({
      databaseUrl: line.url,
      times: { returnAfterMs: 100, retryMs: quick },
    });
    line.disconnect();
    const sent = stockCounts(3);
    await broker.publish(...sent);
    // Not ready, since its messages were returned.
    await eventually(() => (messaging.connected ? undefined : true));
    line.restore();
    expect(await applied(3)).toEqual(ids(sent));
    expect(await broker.takeDeadLetters(queue)).toEqual([]);
  });

  const diskFull = statement('test.disk-full', `DO $$ BEGIN RAISE disk_full; END $$`);
  it('retries its messages and dead-letters none during outages of its work', async () => {
    let failures = 40;
    const onHandle = async (tx: Transaction) => {
      failures -= 1;
      if (failures > 0) await tx.run(diskFull);
    };
    await start({ databaseUrl: stores.url, times: { returnAfterMs: 1, retryMs: quick }, onHandle });
    const sent = stockCounts(3);
    await broker.publish(...sent);
    expect(await applied(3)).toEqual(ids(sent));
    expect(await broker.takeDeadLetters(queue)).toEqual([]);
  });

  const shortLimit = statement('test.limit', `SET LOCAL statement_timeout = '20ms'`);
  const shortLockLimit = statement('test.lock-limit', `SET LOCAL lock_timeout = '20ms'`);
  const sleep = statement('test.sleep', 'SELECT pg_sleep(30)');
  const lock = statement('test.lock', 'LOCK TABLE locked_table');
  it.each([
    ['statement timeout', shortLimit, sleep],
    ['lock timeout', shortLockLimit, lock],
  ])(
    'dead-letters a message whose work meets the %s each time, and applies its neighbours',
    async (limit, short, work) => {
      await stores.dataSource.query('CREATE TABLE locked_table ()');
      const blocker = await stores.database.begin();
      await blocker.tx.run(lock);
      const slow = stockSet(13);
      let attempts = 0;
      const onHandle = async (tx: Transaction, message: Message) => {
        if (message.id !== slow.id) return;
        attempts += 1;
        await tx.run(short);
        await tx.run(work);
      };
      await start({ databaseUrl: stores.url, times: { retryMs: quick }, onHandle });
      const [before, after] = [stockCounts(7), stockCounts(7)];
      await broker.publish(...before, slow, ...after);
      expect(await applied(14)).toEqual(ids([...before, ...after]));
      await blocker.rollback();
      expect(attempts).toBeGreaterThanOrEqual(12);
      expect(await eventually(async () => (await broker.takeDeadLetters(queue))[0])).toBe(
        `took too long: ${limit} in 12 attempts`,
      );
    },
    30_000,
  );
});
