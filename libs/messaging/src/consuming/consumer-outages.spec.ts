/** Tests of consumers while PostgreSQL is down or full, or while the work of a message is slow. */
import type { Message } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { createLogger } from '@fulfilment/runtime';
import { jest } from '@jest/globals';
import { eventually, type FlakyProxy, flakyProxy } from '@fulfilment/testing';
import { stockSetMessages, stockSet } from '../testing/effects-replica.js';
import { ApplyMessages } from './apply-messages.js';
import { type EffectsTestbed, effectsTestbed } from '../testing/effects-testbed.js';

const queue = 'store-api.fulfilment';
const retryDelayMs = { min: 1, max: 20 };

describe('a consumer', () => {
  let testbed: EffectsTestbed;
  let proxy: FlakyProxy;
  beforeEach(async () => {
    testbed = await effectsTestbed(queue);
    proxy = await flakyProxy(testbed.scratch.url);
  });
  afterEach(async () => {
    await testbed.stop();
    await proxy.stop();
  });

  const idsOf = (sent: readonly Message[]) => sent.map(({ id }) => id);

  it.each([
    ['is closed', undefined, (toDatabase: FlakyProxy) => toDatabase.disconnect()],
    ['goes silent', 1_000, (toDatabase: FlakyProxy) => toDatabase.discardData()],
  ])(
    'requeues its messages when its connection to PostgreSQL %s, and another replica applies them in order',
    async (_, statementTimeoutMs, interrupt) => {
      await testbed.start({
        databaseUrl: proxy.url,
        statementTimeoutMs,
        consumerTimes: { requeueAfterMs: 300, retryDelayMs },
      });
      const before = stockSetMessages(5);
      await testbed.broker.publish(...before);
      await testbed.untilApplied(5); // the first replica is the active one
      await testbed.start();
      interrupt(proxy);
      const during = stockSetMessages(20);
      await testbed.broker.publish(...during);
      expect(await testbed.untilApplied(25)).toEqual(idsOf([...before, ...during]));
      proxy.restore();
    },
  );

  it('disconnects from RabbitMQ while its database is down, and applies the messages when it is back', async () => {
    const { messaging } = await testbed.start({
      databaseUrl: proxy.url,
      consumerTimes: { requeueAfterMs: 100, retryDelayMs },
    });
    proxy.disconnect();
    const sent = stockSetMessages(3);
    await testbed.broker.publish(...sent);
    // It disconnects to return the messages.
    await eventually(() => !messaging.connected);
    proxy.restore();
    expect(await testbed.untilApplied(3)).toEqual(idsOf(sent));
    expect(await testbed.broker.takeDeadLetters(queue)).toEqual([]);
  });

  it('applies no later message of a batch after it has requeued the first, although the database is back', async () => {
    const sent = stockSetMessages(10);
    let remainingFailures = 2; // of the batch, and of its first message alone
    let failingPings = 1;
    await testbed.broker.publish(...sent); // all wait, so that they make one batch
    await testbed.start({
      consumerTimes: { requeueAfterMs: 0, retryDelayMs },
      onHandle: (_, { id }) => {
        if (id !== sent[0]?.id || remainingFailures === 0) return;
        remainingFailures -= 1;
        throw new DependencyUnavailable('the database is away');
      },
      ping: () => {
        failingPings -= 1;
        return failingPings < 0 ? Promise.resolve() : Promise.reject(new Error('the database is away'));
      },
    });
    expect(await testbed.untilApplied(10)).toEqual(idsOf(sent));
  });

  const diskFull = statement('test.disk-full', `DO $$ BEGIN RAISE disk_full; END $$`);
  it('retries its messages and dead-letters none while PostgreSQL reports a full disk', async () => {
    let remainingFailures = 40; // far more than the 5 unexpected errors after which a message is rejected
    const onHandle = async (tx: Transaction) => {
      if (remainingFailures === 0) return;
      remainingFailures -= 1;
      await tx.run(diskFull);
    };
    // PostgreSQL responds to pings, so the messages are not requeued.
    await testbed.start({ consumerTimes: { requeueAfterMs: 1, retryDelayMs }, onHandle });
    const sent = stockSetMessages(3);
    await testbed.broker.publish(...sent);
    expect(await testbed.untilApplied(3)).toEqual(idsOf(sent));
    expect(await testbed.broker.takeDeadLetters(queue)).toEqual([]);
  });

  const shortStatementTimeout = statement('test.statement-timeout', `SET LOCAL statement_timeout = '20ms'`);
  const shortLockTimeout = statement('test.lock-timeout', `SET LOCAL lock_timeout = '20ms'`);
  const sleep = statement('test.sleep', 'SELECT pg_sleep(30)');
  const lock = statement('test.lock', 'LOCK TABLE locked_table');
  const stayIdle = statement('test.stay-idle', 'SET LOCAL idle_in_transaction_session_timeout = 0');
  it.each([
    ['statement timeout', shortStatementTimeout, sleep],
    ['lock timeout', shortLockTimeout, lock],
  ])(
    'dead-letters a message whose work exceeds the %s in every attempt, and applies the other messages',
    async (timeout, setShortTimeout, work) => {
      await testbed.scratch.dataSource.query('CREATE TABLE locked_table ()');
      const blocker = await testbed.scratch.database.begin();
      await blocker.tx.run(stayIdle);
      await blocker.tx.run(lock);
      const slow = stockSet(13);
      let attempts = 0;
      const onHandle = async (tx: Transaction, message: Message) => {
        if (message.id !== slow.id) return;
        attempts += 1;
        await tx.run(setShortTimeout);
        await tx.run(work);
      };
      await testbed.start({ consumerTimes: { retryDelayMs }, onHandle });
      const [before, after] = [stockSetMessages(7), stockSetMessages(7)];
      await testbed.broker.publish(...before, slow, ...after);
      expect(await testbed.untilApplied(14)).toEqual(idsOf([...before, ...after]));
      await blocker.rollback();
      expect(attempts).toBeGreaterThanOrEqual(12);
      expect(await eventually(async () => (await testbed.broker.takeDeadLetters(queue))[0])).toBe(
        `took too long: ${timeout} in 12 attempts`,
      );
    },
  );
});

describe('a message whose database is unreachable', () => {
  it('is requeued after 15 s, so that another replica has it within 30 s', async () => {
    let elapsedMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
    const unreachable = {
      transaction: () => {
        elapsedMs += 1_000;
        return Promise.reject(new DependencyUnavailable('PostgreSQL'));
      },
    };
    const requeuedAtMs: number[] = [];
    const messages = new ApplyMessages(
      Object({ queue, mayShareTransaction: () => true }),
      Object(unreachable),
      Object({}),
      createLogger('test', 'silent'),
      {
        retryDelayMs: { min: 1, max: 1 },
        acceptsWork: () => true,
        acknowledge: () => Promise.resolve(),
        requeueUnlessDatabaseResponds: () => Promise.resolve(requeuedAtMs.push(elapsedMs) > 0),
      },
    );
    await messages.handle(Object({}), [Object({ content: Buffer.from(JSON.stringify(stockSet(1))) })]);
    expect(requeuedAtMs).toEqual([15_000]);
    clock.mockRestore();
  });
});
