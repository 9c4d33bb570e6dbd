import { type CreatorSnapshot, type Message, messages, type OrderSnapshot } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { ReplayQueue } from '@fulfilment/messaging';
import { eventually, publishedMessages } from '@fulfilment/testing';
import fc from 'fast-check';
import { z } from 'zod';
import { creatorApi, type CreatorApi, ownerClaims } from '../test/creator-api.fixture.js';
import { aCreator, registered } from '../creators/creator-snapshot.fixture.js';
import { anOrder, transitioned, orderMessage, paid } from '../orders/order-snapshot.fixture.js';
import { CreatorAndOrderConsumer } from './creator-and-order.consumer.js';
import { ReplayConsumer } from './replay.consumer.js';
import { rebuildCounts } from '../orders/rebuild-counts.js';
import {
  readAllRows,
  truncateTables,
  orderHistory,
  rates,
  postAllWaiting,
  orderStates,
} from '../ledger/ledger.fixture.js';
import { loadRates } from '../exchange-rates/load-rates.js';
import { rebuildBreakdown } from '../statistics/rebuild-breakdown.js';
import { rebuildStatistics } from '../statistics/rebuild-statistics.js';

const now = () => ({ occurredAt: new Date() });
const replayedCreator = (creator: CreatorSnapshot) => messages.replayCreator.make({ creator }, now());
const replayedOrder = (order: OrderSnapshot) => messages.replayOrder.make({ order }, now());
const handledHere = statement(
  'test.handled',
  'SELECT count(*) AS rows FROM inbox WHERE message_id = ANY($1::uuid[])',
);

const subject = z.union([
  z.object({ order: z.object({ id: z.string() }) }).transform(({ order }) => order.id),
  z.object({ creator: z.object({ id: z.string() }) }).transform(({ creator }) => creator.id),
]);
const readIds = statement('test.ids', 'SELECT id FROM orders UNION SELECT id FROM creators');

describe('read models after a replay', () => {
  let api: CreatorApi;
  let replay: ReplayQueue;
  const creators = [aCreator('org_a'), aCreator('org_a', { settlement_currency: 'JPY' })];
  const lives = fc.sample(orderHistory, { numRuns: 40, seed: 11 }).map((each) => orderStates(creators, each));
  const newest = lives.flatMap((states) => states.slice(-1));
  const replayMessages = () => [...creators.map(replayedCreator), ...newest.map(replayedOrder)];
  /** Orders that are placed and changed during the replay. */
  const concurrentOrders = fc
    .sample(orderHistory, { numRuns: 20, seed: 12 })
    .map((each) => orderStates(creators, each));

  beforeAll(async () => {
    api = await creatorApi();
    replay = await ReplayQueue.open(api.broker, 'creator-api.replay');
    await loadRates(api.database, rates);
  });
  afterAll(async () => {
    await replay.close();
    await api.stop();
  });
  beforeEach(() => truncateTables(api.database));

  const applied = (sent: readonly Message[]) =>
    eventually(async () => {
      const found = await api.database.row<{ rows: number }>(handledHere, [sent.map(({ id }) => id)]);
      return found?.rows === sent.length ? true : undefined;
    });
  const publish = async (sentMessages: readonly Message[]) => {
    await api.publish(...sentMessages);
    await applied(sentMessages);
  };
  const replayAll = async (sent: readonly Message[]) => {
    await replay.write(sent);
    await applied(sent);
  };
  const rebuildSums = async () => {
    await rebuildBreakdown(api.database);
    return {
      months: (await rebuildStatistics(api.database)).differed,
      counts: (await rebuildCounts(api.database)).differed,
    };
  };
  const all = async () => {
    await postAllWaiting(api.database);
    return readAllRows(api.database, creators);
  };
  const allFacts = (histories: readonly OrderSnapshot[][]) => histories.flat().map(orderMessage);
  /** Returns the rows that result without any loss. */
  const expected = async (histories: readonly OrderSnapshot[][]) => {
    await publish([...creators.map(registered), ...allFacts(histories)]);
    const rows = await all();
    await truncateTables(api.database);
    return rows;
  };

  it.each([
    ['a kept ledger', true],
    ['empty tables', false],
  ])('are equal to the lost ones, from %s and with concurrent orders', async (_how, keepLedger) => {
    const rows = await expected([...lives, ...concurrentOrders]);
    await publish([...creators.map(registered), ...allFacts(lives)]);
    await all();
    await truncateTables(api.database, { keepLedger });
    await rebuildSums();
    await Promise.all([replayAll(replayMessages()), publish(allFacts(concurrentOrders))]);
    await postAllWaiting(api.database);
    expect(await rebuildSums()).toEqual({ months: 0, counts: 0 });
    expect(await all()).toEqual(rows);
  });

  it('are equal after an interrupted and repeated replay, and after a needless one', async () => {
    const rows = await expected(lives);
    await replayAll(replayMessages().slice(0, 20));
    await replayAll(replayMessages());
    expect(await all()).toEqual(rows);
    await replayAll(replayMessages());
    expect(await rebuildSums()).toEqual({ months: 0, counts: 0 });
    expect(await all()).toEqual(rows);
  });

  it('correct wrong rows of a known version, without a second posting', async () => {
    const rows = await expected(lives);
    await publish([...creators.map(registered), ...allFacts(lives)]);
    await all();
    for (const [index, spoil] of [
      `UPDATE creators SET name = 'Nobody'`,
      'UPDATE orders SET royalty_amount = 1, tracking_code = $$lost$$, charged_at = NULL',
      'UPDATE order_items SET vat_amount = 0, release_title = $$lost$$',
      'DELETE FROM order_items WHERE position = 0',
      'UPDATE order_counts SET orders = orders + 7',
    ].entries())
      await api.database.run(statement(`test.spoil_${index}`, spoil));
    await replayAll(replayMessages());
    expect((await rebuildSums()).months).toBe(0);
    expect(await all()).toEqual(rows);
  });

  it('never return to an older version', async () => {
    const [creator = aCreator('org_a')] = creators;
    const order = paid(anOrder(creator.id));
    await publish([
      registered({ ...creator, version: 2, name: 'New' }),
      orderMessage(transitioned(order, 'shipped')),
    ]);
    await replayAll([replayedCreator(creator), replayedOrder(order)]);
    const { body } = await api.get(`/api/v1/orders/${order.id}`, ownerClaims('org_a'));
    expect(body).toMatchObject({ dispatch_status: 'dispatched', tracking_code: 'TEST1' });
    expect((await readAllRows(api.database, creators)).creatorRows).toMatchObject([
      { name: 'New', version: 2 },
    ]);
  });

  it('cause no message to other services', async () => {
    const before = api.broker.published.length;
    await replayAll(replayMessages());
    expect(api.broker.published.length).toBe(before);
    expect(api.broker.published.filter(({ type }) => type.startsWith('replay.'))).toEqual([]);
  });

  it.each([
    ['creator-api.facts', CreatorAndOrderConsumer],
    ['creator-api.replay', ReplayConsumer],
  ] as const)('contain the messages of %s as earlier releases published them', async (queue, consumer) => {
    const published = publishedMessages(queue);
    await api.database.transaction((tx) => api.app.get(consumer).handle(tx, published));
    const ids = (await api.database.rows<{ id: string }>(readIds)).map(({ id }) => id);
    expect(published.length).toBeGreaterThan(1);
    expect(new Set(ids)).toEqual(new Set(published.map(({ data }) => subject.parse(data))));
  });
});
