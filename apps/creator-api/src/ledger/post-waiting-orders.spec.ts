import { type CreatorSnapshot, maxUuid, nilUuid } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { allShards, shardSql } from '@fulfilment/service-host/shards';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
import { recordCreators } from '../creators/record-creators.js';
import { migrations } from '../migrations/index.js';
import { anOrder, paid } from '../orders/order-snapshot.fixture.js';
import { projectOrders } from '../orders/project-orders.js';
import {
  readGroups,
  lockWaitingOrders,
  postWaitingOrders,
  WaitingOrderPoster,
} from './post-waiting-orders.js';
import { truncateTables } from './ledger.fixture.js';
import { storeRates } from '../exchange-rates/load-rates.js';
import { countPagesRead } from '../test/pages-read.fixture.js';

const postedItems = statement('test.posted-items', 'SELECT item_id FROM ledger WHERE creator_id = $1');
const waitingPostings = statement(
  'test.waiting-postings',
  `SELECT w.currency, w.paid_on::text FROM waiting_postings w JOIN orders o ON o.id = w.order_id WHERE o.creator_id = $1`,
);
/** Adds $2 orders of the creator $1 in yen, paid on three days for which no test stores a rate. */
const addWaiting = statement(
  'test.add-waiting',
  `WITH added AS (
     INSERT INTO orders (id, creator_id, version, placed_at, currency, payment_status, dispatch_status, tracking_code,
       gross_amount, royalty_amount, item_count, charged_at)
     SELECT gen_random_uuid(), $1, 2, now(), 'JPY', 'paid', 'in_production', '', 100, 10, 1,
       '2026-08-01T12:00:00Z'::timestamptz + (n % 3) * interval '1 day'
     FROM generate_series(1, $2) n RETURNING id, creator_id, currency, charged_at
   )
   INSERT INTO waiting_postings (order_id, creator_id, currency, paid_on)
   SELECT id, creator_id, currency, (charged_at AT TIME ZONE 'UTC')::date FROM added`,
);
const shardsOfCreators = statement(
  'test.shards-of-creators',
  `SELECT id, ${shardSql('id')} AS shard FROM unnest($1::uuid[]) AS id`,
);
const postedCreators = statement('test.posted-creators', 'SELECT creator_id FROM ledger');
const analyse = statement('test.analyse', 'ANALYZE orders, waiting_postings');
const lockOrder = statement('test.lock-order', 'SELECT 1 FROM orders WHERE id = $1 FOR UPDATE');

describe('orders that wait for their creator or an exchange rate', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
    database = scratch.database;
  });
  afterAll(() => scratch.drop());
  beforeEach(() => truncateTables(database));

  const register = (creator: CreatorSnapshot) => database.transaction((tx) => recordCreators(tx, [creator]));
  const sell = async (creatorId: string, currency: 'GBP' | 'JPY', at = '2026-05-01T12:00:00.000Z') => {
    const order = paid(anOrder(creatorId, { currency }), at);
    await database.transaction((tx) => projectOrders(tx, [order]));
    return order;
  };
  const isPosted = async (creatorId: string) => (await database.rows(postedItems, [creatorId])).length > 0;

  it('are stored with their currency and day, and are posted once their creator and rate are known', async () => {
    const [unregistered, known] = [aCreator('org_a'), aCreator('org_a')];
    await register(known);
    await sell(unregistered.id, 'GBP');
    await sell(known.id, 'JPY');
    expect(await database.rows(waitingPostings, [known.id])).toEqual([
      { currency: 'JPY', paid_on: '2026-05-01' },
    ]);
    const waiting = new WaitingOrderPoster(database);
    await waiting.round();
    expect([await isPosted(unregistered.id), await isPosted(known.id)]).toEqual([false, false]);

    await register(unregistered);
    waiting.scheduleCreators([unregistered.id]);
    await waiting.round();
    expect([await isPosted(unregistered.id), await isPosted(known.id)]).toEqual([true, false]);

    await storeRates(database, 'Date,USD,JPY,GBP\n2026-04-30,1.1,170,0.8\n');
    waiting.scheduleAll();
    await waiting.round();
    expect(await isPosted(known.id)).toBe(true);
    expect(await database.rows(waitingPostings, [known.id])).toEqual([]);
  });

  it('are posted by polling when their creator has changed the settlement currency', async () => {
    const creator = aCreator('org_a');
    await register(creator);
    await sell(creator.id, 'JPY', '2026-07-07T12:00:00.000Z');
    await register({ ...creator, version: 2, settlement_currency: 'JPY' });
    await new WaitingOrderPoster(database).round();
    expect(await isPosted(creator.id)).toBe(true);
  });

  it('wait for the rate of the corrected day of the payment', async () => {
    const creator = aCreator('org_a');
    await register(creator);
    const order = await sell(creator.id, 'JPY', '2026-06-01T12:00:00.000Z');
    const corrected = { ...order, payment: { ...order.payment, charged_at: '2026-06-02T12:00:00.000Z' } };
    await database.transaction((tx) => projectOrders(tx, [corrected], { replay: true }));
    expect(await database.rows(waitingPostings, [creator.id])).toEqual([
      { currency: 'JPY', paid_on: '2026-06-02' },
    ]);
  });

  it('are skipped while another transaction has locked them, and posted afterwards', async () => {
    const creator = aCreator('org_a');
    const { id } = await sell(creator.id, 'GBP');
    await register(creator);
    await database.transaction(async (tx) => {
      await tx.run(lockOrder, [id]);
      await postWaitingOrders(database);
      expect(await isPosted(creator.id)).toBe(false);
    });
    await postWaitingOrders(database);
    expect(await isPosted(creator.id)).toBe(true);
  });

  it('are all posted in batches when many wait for one creator', async () => {
    const creator = aCreator('org_a');
    const orders = Array.from({ length: 1100 }, () => paid(anOrder(creator.id)));
    for (let start = 0; start < orders.length; start += 200)
      await database.transaction((tx) => projectOrders(tx, orders.slice(start, start + 200)));
    await register(creator);
    const waiting = new WaitingOrderPoster(database);
    waiting.scheduleCreators([creator.id]);
    let rounds = 1;
    while (await waiting.round()) rounds += 1;
    expect(rounds).toBe(3); // 500, 500 and 100 orders
    expect((await database.rows(postedItems, [creator.id])).length).toBe(1100);
  });

  it('are posted by checking all groups when more than 100 creators change at once', async () => {
    const creators = Array.from({ length: 150 }, () => aCreator('org_a'));
    const waiting = new WaitingOrderPoster(database);
    for (const { id } of creators) await sell(id, 'GBP');
    await database.transaction((tx) => recordCreators(tx, creators));
    waiting.scheduleCreators(creators.map(({ id }) => id));
    expect(await waiting.round()).toBe(false);
    for (const { id } of creators) expect(await isPosted(id)).toBe(true);
  });

  it('are all checked once more when creators change during the check', async () => {
    const creators = Array.from({ length: 150 }, () => aCreator('org_a'));
    const ids = creators.map(({ id }) => id);
    const ownsNoShard = new WaitingOrderPoster(database, () => []);
    ownsNoShard.scheduleCreators(ids);
    const check = ownsNoShard.round();
    ownsNoShard.scheduleCreators(ids);
    expect(await check).toBe(true);
    expect(await ownsNoShard.round()).toBe(false);
  });

  it('are posted by the replica that owns the shard of their creator, and only once when the owner changes', async () => {
    const creators = Array.from({ length: 40 }, () => aCreator('org_a'));
    for (const { id } of creators) await sell(id, 'GBP');
    for (const creator of creators) await register(creator);
    const shardOf = new Map(
      (
        await database.rows<{ id: string; shard: number }>(shardsOfCreators, [creators.map(({ id }) => id)])
      ).map((row) => [row.id, row.shard]),
    );
    const posted = async () => {
      const rows = await database.rows<{ creator_id: string }>(postedCreators);
      return rows.map((row) => row.creator_id).toSorted();
    };
    const idsIn = (shards: readonly number[]) =>
      creators.flatMap(({ id }) => (shards.includes(shardOf.get(id) ?? NaN) ? [id] : [])).toSorted();
    let firstShards: readonly number[] = allShards.slice(0, 6);
    const firstReplica = new WaitingOrderPoster(database, () => firstShards);
    const secondReplica = new WaitingOrderPoster(database, () => allShards);
    await firstReplica.round();
    expect(await posted()).toEqual(idsIn(firstShards));
    // While shards change their owner, both replicas may consider them their own.
    firstShards = allShards;
    await Promise.all([firstReplica.round(), secondReplica.round()]);
    expect(await posted()).toEqual(idsIn(allShards));
  });

  it('are found with about as few page reads when forty times as many wait for a rate, and delay no other order', async () => {
    const creatorWithoutRate = aCreator('org_a');
    await register(creatorWithoutRate);
    const wholeRange = [nilUuid, '', '-infinity', maxUuid, allShards];
    const oneGroup = [[creatorWithoutRate.id], ['JPY'], ['2026-08-02']];
    const measure = async () => {
      await database.run(analyse);
      return {
        groups: await countPagesRead(database, readGroups, wholeRange),
        orders: await countPagesRead(database, lockWaitingOrders, oneGroup),
      };
    };
    await database.run(addWaiting, [creatorWithoutRate.id, 1_500]);
    const withFew = await measure();
    for (let added = 0; added < 60_000; added += 6_000)
      await database.run(addWaiting, [creatorWithoutRate.id, 6_000]);
    const withMany = await measure();
    // Each of the 500 orders of a batch needs four page reads, and six with the larger indexes. Reading all
    // 60000 orders would add about 1000.
    expect(withMany.groups).toBeLessThan(withFew.groups + 30);
    expect(withMany.orders).toBeLessThan(withFew.orders * 1.6 + 30);

    const creator = aCreator('org_a');
    await sell(creator.id, 'GBP');
    await register(creator);
    const waiting = new WaitingOrderPoster(database);
    waiting.scheduleCreators([creator.id]);
    expect(await waiting.round()).toBe(false);
    expect(await isPosted(creator.id)).toBe(true);
  });
});
