import { type CreatorSnapshot, type Message, messages, type OrderSnapshot } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { ReplayQueue } from '@fulfilment/messaging';
import { eventually } from '@fulfilment/testing';
import fc from 'fast-check';
import { creatorApi, type CreatorApi, ownerOf } from './creator-api.fixture.js';
import { aCreator, registered } from './creators/creator-snapshot.fixture.js';
import { anOrder, moved, orderMessage, paid } from './orders/order-snapshot.fixture.js';
import { rebuildCounts } from './orders/rebuild-counts.js';
import { everything, forgetAll, life, rates, settle, statesOf } from './statistics/books.fixture.js';
import { loadRates } from './statistics/load-rates.js';
import { rebuildStatistics } from './statistics/rebuild-statistics.js';

const now = () => ({ occurredAt: new Date() });
const creatorAgain = (creator: CreatorSnapshot) => messages.replayCreator.make({ creator }, now());
const orderAgain = (order: OrderSnapshot) => messages.replayOrder.make({ order }, now());
const handledHere = statement(
  'test.handled',
  'SELECT count(*) AS rows FROM inbox WHERE message_id = ANY($1::uuid[])',
);

describe('read models that are made anew', () => {
  let api: CreatorApi;
  let replay: ReplayQueue;
  const creators = [aCreator('org_a'), aCreator('org_a', { settlement_currency: 'JPY' })];
  const lives = fc.sample(life, { numRuns: 40, seed: 11 }).map((each) => statesOf(creators, each));
  const newest = lives.flatMap((states) => states.slice(-1));
  const told = () => [...creators.map(creatorAgain), ...newest.map(orderAgain)];
  /** Placed and moved while the read models are made anew. */
  const meanwhile = fc.sample(life, { numRuns: 20, seed: 12 }).map((each) => statesOf(creators, each));

  beforeAll(async () => {
    api = await creatorApi();
    replay = await ReplayQueue.open(api.broker, 'creator-api.replay');
    await loadRates(api.database, rates);
  });
  afterAll(async () => {
    await replay.close();
    await api.stop();
  });
  beforeEach(() => forgetAll(api.database));

  const applied = (sent: readonly Message[]) =>
    eventually(async () => {
      const found = await api.database.row<{ rows: number }>(handledHere, [sent.map(({ id }) => id)]);
      return found?.rows === sent.length ? true : undefined;
    });
  const publish = async (facts: readonly Message[]) => {
    await api.publish(...facts);
    await applied(facts);
  };
  const publishReplay = async (sent: readonly Message[]) => {
    await replay.write(sent);
    await applied(sent);
  };
  const rebuildSums = async () => ({
    months: (await rebuildStatistics(api.database)).differed,
    counts: (await rebuildCounts(api.database)).differed,
  });
  const all = async () => {
    await settle(api.database);
    return everything(api.database, creators);
  };
  const allFacts = (histories: readonly OrderSnapshot[][]) => histories.flat().map(orderMessage);
  /** The rows there are when nothing was ever lost. */
  const expected = async (histories: readonly OrderSnapshot[][]) => {
    await publish([...creators.map(registered), ...allFacts(histories)]);
    const rows = await all();
    await forgetAll(api.database);
    return rows;
  };

  it.each([
    ['with the ledger kept', true],
    ['from nothing', false],
  ])('are the same as before, %s, while orders go on', async (_how, keepLedger) => {
    const rows = await expected([...lives, ...meanwhile]);
    await publish([...creators.map(registered), ...allFacts(lives)]);
    await all();
    await forgetAll(api.database, { keepLedger });
    await rebuildSums();
    await Promise.all([publishReplay(told()), publish(allFacts(meanwhile))]);
    await settle(api.database);
    expect(await rebuildSums()).toEqual({ months: 0, counts: 0 });
    expect(await all()).toEqual(rows);
  });

  it('are the same when it was broken off and done again, and when it is done for nothing', async () => {
    const rows = await expected(lives);
    await publishReplay(told().slice(0, 20));
    await publishReplay(told());
    expect(await all()).toEqual(rows);
    await publishReplay(told());
    expect(await rebuildSums()).toEqual({ months: 0, counts: 0 });
    expect(await all()).toEqual(rows);
  });

  it('put right what a version that is known had wrong, and book nothing twice', async () => {
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
    await publishReplay(told());
    expect((await rebuildSums()).months).toBe(0);
    expect(await all()).toEqual(rows);
  });

  it('never go back to what was told before something happened', async () => {
    const [creator = aCreator('org_a')] = creators;
    const order = paid(anOrder(creator.id));
    await publish([
      registered({ ...creator, version: 2, name: 'New' }),
      orderMessage(moved(order, 'shipped')),
    ]);
    await publishReplay([creatorAgain(creator), orderAgain(order)]);
    const { body } = await api.get(`/api/v1/orders/${order.id}`, ownerOf('org_a'));
    expect(body).toMatchObject({ dispatch_status: 'dispatched', tracking_code: 'TEST1' });
    expect((await everything(api.database, creators)).rowsOfCreators).toMatchObject([
      { name: 'New', version: 2 },
    ]);
  });

  it('are nobody else’s business', async () => {
    const before = api.broker.published.length;
    await publishReplay(told());
    expect(api.broker.published.length).toBe(before);
    expect(api.broker.published.filter(({ type }) => type.startsWith('replay.'))).toEqual([]);
  });
});
