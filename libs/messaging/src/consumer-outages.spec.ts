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
const retryDelayMs = { min: 1, max: 20 };

describe('a consumer', () => {
  let scratch: ScratchDatabase;
  let broker: ScratchBroker;
  let proxy: FlakyProxy;
  let replicas: Replica[];

  beforeEach(async () => {
    scratch = await scratchDatabase([EffectsTables1700000000000]);
    broker = await scratchBroker([queue]);
    proxy = await flakyProxy(scratch.url);
    replicas = [];
  });
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await proxy.stop();
    await broker.drop();
    await scratch.drop();
  });

  const start = async (
    settings: Partial<Parameters<typeof startReplica>[0]> & { databaseUrl: string },
  ): Promise<Replica> => {
    const replica = await startReplica({ url: broker.url, namespace: broker.namespace, queue, ...settings });
    replicas.push(replica);
    await eventually(() => replica.messaging.connected || undefined);
    return replica;
  };
  const untilApplied = (count: number) =>
    eventually(
      async () => {
        const ids = await appliedIds(scratch.database);
        return ids.length >= count ? ids : undefined;
      },
      20_000,
      () => `${count} effects`,
    );
  const ids = (sent: readonly Message[]) => sent.map(({ id }) => id);

  it.each([
    ['is closed', (proxy: FlakyProxy) => proxy.disconnect()],
    ['goes silent', (proxy: FlakyProxy) => proxy.discardData()],
  ])(
    'returns its messages when its connection to PostgreSQL %s, and another replica applies them in order',
    async (_, interrupt) => {
      await start({ databaseUrl: proxy.url, times: { returnAfterMs: 300, retryDelayMs } });
      const before = stockCounts(5);
      await broker.publish(...before);
      await untilApplied(5); // the first replica is the active one
      await start({ databaseUrl: scratch.url });
      interrupt(proxy);
      const during = stockCounts(20);
      await broker.publish(...during);
      expect(await untilApplied(25)).toEqual(ids([...before, ...during]));
      proxy.restore();
    },
    60_000,
  );

  it('resumes when its database is back', async () => {
    const { messaging } = await start({
      databaseUrl: proxy.url,
      times: { returnAfterMs: 100, retryDelayMs },
    });
    proxy.disconnect();
    const sent = stockCounts(3);
    await broker.publish(...sent);
    // Not ready, since its messages were returned.
    await eventually(() => (messaging.connected ? undefined : true));
    proxy.restore();
    expect(await untilApplied(3)).toEqual(ids(sent));
    expect(await broker.takeDeadLetters(queue)).toEqual([]);
  });

  const diskFull = statement('test.disk-full', `DO $$ BEGIN RAISE disk_full; END $$`);
  it('retries its messages and dead-letters none during outages of its work', async () => {
    let failures = 40;
    const onHandle = async (tx: Transaction) => {
      failures -= 1;
      if (failures > 0) await tx.run(diskFull);
    };
    await start({ databaseUrl: scratch.url, times: { returnAfterMs: 1, retryDelayMs }, onHandle });
    const sent = stockCounts(3);
    await broker.publish(...sent);
    expect(await untilApplied(3)).toEqual(ids(sent));
    expect(await broker.takeDeadLetters(queue)).toEqual([]);
  });

  const shortStatementTimeout = statement('test.statement-timeout', `SET LOCAL statement_timeout = '20ms'`);
  const shortLockTimeout = statement('test.lock-timeout', `SET LOCAL lock_timeout = '20ms'`);
  const sleep = statement('test.sleep', 'SELECT pg_sleep(30)');
  const lock = statement('test.lock', 'LOCK TABLE locked_table');
  it.each([
    ['statement timeout', shortStatementTimeout, sleep],
    ['lock timeout', shortLockTimeout, lock],
  ])(
    'dead-letters a message whose work meets the %s each time, and applies its neighbours',
    async (timeout, setShortTimeout, work) => {
      await scratch.dataSource.query('CREATE TABLE locked_table ()');
      const blocker = await scratch.database.begin();
      await blocker.tx.run(lock);
      const slow = stockSet(13);
      let attempts = 0;
      const onHandle = async (tx: Transaction, message: Message) => {
        if (message.id !== slow.id) return;
        attempts += 1;
        await tx.run(setShortTimeout);
        await tx.run(work);
      };
      await start({ databaseUrl: scratch.url, times: { retryDelayMs }, onHandle });
      const [before, after] = [stockCounts(7), stockCounts(7)];
      await broker.publish(...before, slow, ...after);
      expect(await untilApplied(14)).toEqual(ids([...before, ...after]));
      await blocker.rollback();
      expect(attempts).toBeGreaterThanOrEqual(12);
      expect(await eventually(async () => (await broker.takeDeadLetters(queue))[0])).toBe(
        `took too long: ${timeout} in 12 attempts`,
      );
    },
    30_000,
  );
});
