import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import request from 'supertest';
import { cataloguePrices } from '../catalogue/catalogue-file.fixture.js';
import {
  newKey,
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
  shippingPrice,
} from '../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers } from './order-helpers.fixture.js';

/**
 * Inserts the key $2 of a request of the creator $1 that died 23 hours ago, before it placed an order. Its
 * client is that of another key of the creator.
 */
const insertAbandonedKey = statement(
  'test.insert-abandoned-key',
  `INSERT INTO idempotency_keys (creator_id, client_id, key, fingerprint, claimed_by, lease_until, created_at)
   SELECT $1, client_id, $2, decode(repeat('00', 32), 'hex'), gen_random_uuid(), now() - interval '1 day',
          now() - interval '23 hours'
   FROM idempotency_keys WHERE creator_id = $1 LIMIT 1`,
);
const markInProgress = statement(
  'test.mark-in-progress',
  "UPDATE idempotency_keys SET response = NULL, lease_until = now() + interval '1 hour' WHERE key = $1",
);
const lockKey = statement(
  'test.lock-key',
  'UPDATE idempotency_keys SET lease_until = lease_until WHERE key = $1',
);
const readWaitingClaims = statement(
  'test.waiting-claims',
  `SELECT pid FROM pg_stat_activity
   WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%idempotency_keys%'`,
);
const makeOlder = statement(
  'test.make-older',
  'UPDATE idempotency_keys SET created_at = created_at - $2::interval WHERE key = $1',
);

describe('POST /v1/orders with an idempotency key', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;
  let creator: Creator;
  let sku: string;
  let rate: string;

  beforeAll(async () => {
    store = await startStoreApi();
    helpers = orderHelpers(store);
    creator = await store.creator();
    ({ sku } = await store.release(creator.id));
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  it('returns the first response to a repeated key and body', async () => {
    const idempotencyKey = newKey();
    const body = orderBody(sku, rate);
    const first = await helpers.place(creator, body, idempotencyKey);
    const { shipping_address, items, shipping_rate_id } = body;
    // The same key and order in another form: with quotes, another sequence, an unknown member and a null.
    const replay = await helpers.place(
      creator,
      { shipping_rate_id, unknown: 1, items, shipping_address: { ...shipping_address, company: null } },
      `"${idempotencyKey}"`,
    );
    expect([replay.status, replay.body]).toEqual([201, first.body]);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(replay.headers['location']).toBe(first.headers['location']);
  });

  it('rejects the key with another body', async () => {
    const idempotencyKey = newKey();
    await helpers.place(creator, orderBody(sku, rate), idempotencyKey);
    const other = await helpers.place(creator, orderBody(sku, rate, 3), idempotencyKey);
    expect(other.status).toBe(409);
    expect(other.body).toMatchObject({
      code: 'CONFLICT',
      details: [{ field: 'idempotency-key', reason: 'body_mismatch' }],
    });
  });

  it('results in one order, one charge and one order.created for 50 concurrent requests', async () => {
    const owner = await store.creator();
    const { sku: item } = await store.release(owner.id, [{ quantity: 100 }]);
    const body = orderBody(item, await store.quote(owner.token));
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => helpers.place(owner, body, 'concurrent')),
    );
    for (const { status, body: result, headers } of responses) {
      expect([201, 409]).toContain(status);
      if (status === 409) {
        expect(result.details).toEqual([{ field: 'idempotency-key', reason: 'in_progress' }]);
        expect(headers['retry-after']).toBe('1');
      }
    }
    const placed = responses.filter(({ status }) => status === 201).map(({ body: result }) => result.id);
    expect(new Set(placed).size).toBe(1);
    expect(await helpers.orderCount(owner)).toBe(1);
    expect(await helpers.providerCharges(owner)).toEqual([
      { amount: cataloguePrices.GBP + shippingPrice, currency: 'GBP', outcome: 'succeeded', refunded: false },
    ]);
    expect(await helpers.stock(owner)).toEqual([99]);
    expect(await helpers.events(owner, 'order.')).toEqual(['order.created', 'order.processing']);
    expect(await helpers.events(owner, 'product.')).toEqual(['product.inventory_changed']);
  });

  it('does not block repeated or other requests while the order of a key is being written', async () => {
    const idempotencyKey = newKey();
    await helpers.place(creator, orderBody(sku, rate), idempotencyKey);
    await store.database.run(markInProgress, [idempotencyKey]);
    const writing = await store.database.begin();
    try {
      await writing.tx.run(lockKey, [idempotencyKey]);
      const responses = await Promise.all([
        ...Array.from({ length: 6 }, () => helpers.place(creator, orderBody(sku, rate), idempotencyKey)),
        ...Array.from({ length: 6 }, () => helpers.place(creator, orderBody(sku, rate), newKey())),
      ]);
      expect(responses.map(({ status }) => status)).toEqual([...Array(6).fill(409), ...Array(6).fill(201)]);
    } finally {
      await writing.rollback();
    }
  });

  it('releases the key when no order was placed', async () => {
    const idempotencyKey = newKey();
    expect((await helpers.place(creator, orderBody('prod_unknown', rate), idempotencyKey)).status).toBe(422);
    expect((await helpers.place(creator, orderBody(sku, rate), idempotencyKey)).status).toBe(201);
  });

  it('stores the response for 24 hours after the request that placed the order, not after an earlier request that died', async () => {
    const idempotencyKey = newKey();
    const place = () => helpers.place(creator, orderBody(sku, rate), idempotencyKey);
    await helpers.place(creator, orderBody(sku, rate)); // stores a key with the client's id
    expect(await store.database.run(insertAbandonedKey, [creator.id, idempotencyKey])).toBe(1);
    const first = await place();
    await store.database.run(makeOlder, [idempotencyKey, '2 hours']); // 25 hours after the abandoned request
    const replay = await place();
    expect([replay.status, replay.body.id]).toEqual([201, first.body.id]);
  });

  it('places a new order, also with another body, 24 hours after the request that placed an order', async () => {
    const idempotencyKey = newKey();
    const first = await helpers.place(creator, orderBody(sku, rate), idempotencyKey);
    // The key itself becomes less than a minute older during the test.
    await store.database.run(makeOlder, [idempotencyKey, '23 hours 59 minutes']);
    const replay = await helpers.place(creator, orderBody(sku, rate), idempotencyKey);
    await store.database.run(makeOlder, [idempotencyKey, '1 minute']);
    const second = await helpers.place(creator, orderBody(sku, rate, 2), idempotencyKey);
    expect([replay.status, replay.body.id]).toEqual([201, first.body.id]);
    expect([second.status, second.get('idempotent-replayed')]).toEqual([201, undefined]);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('gives the key of a request that died to one of several concurrent requests', async () => {
    const idempotencyKey = newKey();
    const { creator: owner, body } = await helpers.prepareOrder();
    await helpers.place(owner, body); // the first order; stores a key with the client's id
    expect(await store.database.run(insertAbandonedKey, [owner.id, idempotencyKey])).toBe(1);
    const lock = await store.database.begin();
    await lock.tx.run(lockKey, [idempotencyKey]);
    const requests = Array.from({ length: 3 }, () => helpers.place(owner, body, idempotencyKey));
    const responses = Promise.all(requests);
    try {
      await eventually(async () => (await store.database.rows(readWaitingClaims)).length === 3);
    } finally {
      await lock.rollback();
    }
    for (const { status } of await responses) expect([201, 409]).toContain(status);
    expect(await helpers.orderCount(owner)).toBe(2);
  });

  it('scopes the key to one client of one creator', async () => {
    const idempotencyKey = newKey();
    const otherCreator = await store.creator();
    const { sku: item } = await store.release(otherCreator.id);
    const first = await helpers.place(creator, orderBody(sku, rate), idempotencyKey);
    const ofOtherCreator = await helpers.place(
      otherCreator,
      orderBody(item, await store.quote(otherCreator.token)),
      idempotencyKey,
    );
    const scope = 'orders:create';
    const token = await store.tokens.token({ creator_id: creator.id, client_id: 'another', scope });
    const ofOtherClient = await helpers.place({ ...creator, token }, orderBody(sku, rate), idempotencyKey);
    expect([first.status, ofOtherCreator.status, ofOtherClient.status]).toEqual([201, 201, 201]);
    expect(new Set([first.body.id, ofOtherCreator.body.id, ofOtherClient.body.id]).size).toBe(3);
  });

  it.each(['', 'with space', 'ü', 'x'.repeat(256)])('rejects %p as a key', async (bad) => {
    const response = await request(store.server)
      .post('/store/v1/orders')
      .auth(creator.token, { type: 'bearer' })
      .set('idempotency-key', Buffer.from(bad).toString('latin1'))
      .send(orderBody(sku, rate));
    expect([response.status, response.body.details?.[0].field]).toEqual([400, 'idempotency-key']);
  });
});
