import { maxAmount } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import request from 'supertest';
import {
  address,
  key,
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type TestCreator,
} from '../store-api.fixture.js';

const sandboxCharges = statement(
  'test.charges',
  `SELECT count(*) AS charges FROM sandbox_charges s JOIN charges c ON c.id::text = s.idempotency_key
   JOIN orders o ON o.id = c.order_id WHERE o.creator_id = $1`,
);
const ordersOf = statement('test.orders', 'SELECT count(*) AS orders FROM orders WHERE creator_id = $1');
const stockOf = statement('test.stock', 'SELECT quantity FROM products WHERE creator_id = $1 ORDER BY id');
const dueNow = statement(
  'test.due',
  'UPDATE orders SET resume_at = now() WHERE creator_id = $1 AND resume_at IS NOT NULL',
);

describe('POST /v1/orders', () => {
  let store: StoreApiUnderTest;
  let creator: TestCreator;
  let sku: string;
  let rate: string;

  beforeAll(async () => {
    store = await startStoreApi({ PAYMENT_TIMEOUT_MS: '300', RESUME_AFTER_MS: '60000' });
    creator = await store.creator();
    [sku = ''] = (await store.release(creator.id)).skus;
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  const place = (body: object, idempotencyKey?: string, token = creator.token) => {
    const sent = request(store.server).post('/store/v1/orders').auth(token, { type: 'bearer' });
    return (idempotencyKey === undefined ? sent : sent.set('idempotency-key', idempotencyKey)).send(body);
  };
  const count = async (what: typeof ordersOf, who = creator) =>
    store.database.row<Record<string, number>>(what, [who.id]);

  it('places, charges and answers 201 with a Location that reads back', async () => {
    const placed = await place({
      ...orderBody(sku, rate, 2),
      source: { platform: 'shopify', external_order_id: '#1' },
    });
    expect(placed.status).toBe(201);
    expect(placed.body).toEqual({ id: expect.stringMatching(/^ord_[0-9a-z]{26}$/), status: 'processing' });
    expect(placed.headers['location']).toBe(`${store.config.BASE_URL}/store/v1/orders/${placed.body.id}`);

    const { body: order } = await store.get(`/store/v1/orders/${placed.body.id}`, creator.token);
    expect(order).toMatchObject({
      id: placed.body.id,
      status: 'processing',
      source: { platform: 'shopify', external_order_id: '#1', store_id: expect.any(String) },
      total: { amount: 2 * 2999 + 400, currency: 'GBP' },
      item_count: 2,
      line_items: [
        { sku, title: 'Tidal Maps 1', quantity: 2, unit_price: { amount: 2999, currency: 'GBP' } },
      ],
      shipping_address: address,
      billing: {
        method: 'card',
        payment_status: 'paid',
        charged_at: expect.any(String),
        amount: { amount: 2 * 2499 + 400, currency: 'GBP' },
      },
      shipping: { rate_id: rate, amount: { amount: 400, currency: 'GBP' } },
      tracking: null,
    });
    const types = () =>
      store.broker.published
        .filter(({ data }) => JSON.stringify(data).includes('"#1"'))
        .map(({ type }) => type);
    await eventually(() => (types().length === 2 ? true : undefined));
    expect(types()).toEqual(['order.created', 'order.processing']);
  });

  it('answers 201 payment_failed when the charge is declined, and gives the stock back', async () => {
    const poor = await store.creator('pm_declined');
    const [limited = ''] = (await store.release(poor.id, [{ quantity: 5 }])).skus;
    const placed = await place(orderBody(limited, await store.quote(poor.token), 2), undefined, poor.token);
    expect([placed.status, placed.body.status]).toEqual([201, 'payment_failed']);
    expect(await store.database.row(stockOf, [poor.id])).toEqual({ quantity: 5 });
    const { body: order } = await store.get(`/store/v1/orders/${placed.body.id}`, poor.token);
    expect(order.billing).toMatchObject({ payment_status: 'failed', charged_at: null });
  });

  it('answers 201 pending when the provider is silent; the completer settles it and the key learns it', async () => {
    const slow = await store.creator('pm_timeout');
    const [item = ''] = (await store.release(slow.id)).skus;
    const body = orderBody(item, await store.quote(slow.token));
    const first = await place(body, 'slow-1', slow.token);
    expect([first.status, first.body.status]).toEqual([201, 'pending']);
    expect((await place(body, 'slow-1', slow.token)).body).toEqual(first.body);

    await store.database.run(dueNow, [slow.id]);
    await store.resumeOrders();
    const replayed = await place(body, 'slow-1', slow.token);
    expect(replayed.body).toEqual({ id: first.body.id, status: 'processing' });
    expect(replayed.headers['idempotent-replayed']).toBe('true');
    expect(await count(sandboxCharges, slow)).toEqual({ charges: 1 });
  });

  it('ignores unknown members, whatever their names', async () => {
    const odd = { ...orderBody(sku, rate), constructor: { constructor: 'x' }, note: { constructor: 'Acme' } };
    expect((await place(odd)).status).toBe(201);
  });

  describe('with an idempotency key', () => {
    it('replays the first answer when the same key and body come again', async () => {
      const idempotencyKey = key();
      const body = orderBody(sku, rate);
      const first = await place(body, idempotencyKey);
      const { shipping_address, items, shipping_rate_id } = body;
      const again = await place(
        { shipping_rate_id, unknown: 1, items, shipping_address: { ...shipping_address, company: null } },
        `"${idempotencyKey}"`,
      );
      expect([again.status, again.body]).toEqual([201, first.body]);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(first.headers['idempotent-replayed']).toBeUndefined();
      expect(again.headers['location']).toBe(first.headers['location']);
    });

    it('refuses the key for another body', async () => {
      const idempotencyKey = key();
      await place(orderBody(sku, rate), idempotencyKey);
      const other = await place(orderBody(sku, rate, 3), idempotencyKey);
      expect(other.status).toBe(409);
      expect(other.body).toMatchObject({
        code: 'CONFLICT',
        details: [{ field: 'idempotency-key', reason: 'body_mismatch' }],
      });
    });

    it('makes one order, one charge and one order.created of 50 parallel requests', async () => {
      const buyer = await store.creator();
      const [item = ''] = (await store.release(buyer.id)).skus;
      const body = orderBody(item, await store.quote(buyer.token));
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => place(body, 'parallel', buyer.token)),
      );
      for (const { status, body: told, headers } of answers) {
        expect([201, 409]).toContain(status);
        if (status === 409) {
          expect(told.details).toEqual([{ field: 'idempotency-key', reason: 'in_progress' }]);
          expect(headers['retry-after']).toBe('1');
        }
      }
      expect(
        new Set(answers.filter(({ status }) => status === 201).map(({ body: told }) => told.id)).size,
      ).toBe(1);
      expect(await count(ordersOf, buyer)).toEqual({ orders: 1 });
      expect(await count(sandboxCharges, buyer)).toEqual({ charges: 1 });
    });

    it('frees the key when there is no order to remember', async () => {
      const idempotencyKey = key();
      expect((await place(orderBody('prod_unknown', rate), idempotencyKey)).status).toBe(422);
      expect((await place(orderBody(sku, rate), idempotencyKey)).status).toBe(201);
    });

    it('belongs to one client of one creator', async () => {
      const idempotencyKey = key();
      const other = await store.creator();
      const [item = ''] = (await store.release(other.id)).skus;
      const mine = await place(orderBody(sku, rate), idempotencyKey);
      const theirs = await place(
        orderBody(item, await store.quote(other.token)),
        idempotencyKey,
        other.token,
      );
      expect(theirs.status).toBe(201);
      expect(theirs.body.id).not.toBe(mine.body.id);
    });

    it.each(['', 'with space', 'ü', 'x'.repeat(256)])('refuses %p as a key', async (bad) => {
      const refused = await request(store.server)
        .post('/store/v1/orders')
        .auth(creator.token, { type: 'bearer' })
        .set('idempotency-key', Buffer.from(bad).toString('latin1'))
        .send(orderBody(sku, rate));
      expect([refused.status, refused.body.details?.[0].field]).toEqual([400, 'idempotency-key']);
    });
  });

  describe('limited editions', () => {
    it('sells the last unit to exactly one of many buyers, and charges nobody else', async () => {
      const seller = await store.creator();
      const [last = ''] = (await store.release(seller.id, [{ quantity: 1 }])).skus;
      const rateId = await store.quote(seller.token);
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => place(orderBody(last, rateId), undefined, seller.token)),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      for (const { body, status } of answers) {
        if (status !== 201)
          expect(body).toMatchObject({
            statusCode: 422,
            details: [{ field: 'items.0.sku', reason: 'insufficient_stock' }],
          });
      }
      expect(await store.database.row(stockOf, [seller.id])).toEqual({ quantity: 0 });
      expect(await count(sandboxCharges, seller)).toEqual({ charges: 1 });
      const outOfStock = () =>
        store
          .published('product.out_of_stock')
          .filter(({ data }) => JSON.stringify(data).includes(seller.id));
      await eventually(() => (outOfStock().length > 0 ? true : undefined));
      expect(outOfStock()).toHaveLength(1);
    });

    it('takes the sum when one sku stands on two lines', async () => {
      const seller = await store.creator();
      const [item = ''] = (await store.release(seller.id, [{ quantity: 3 }])).skus;
      const body = orderBody(item, await store.quote(seller.token), 2);
      const both = { ...body, items: [...body.items, ...body.items] };
      const refused = await place(both, undefined, seller.token);
      expect(refused.body.details).toEqual([
        { field: 'items.0.sku', reason: 'insufficient_stock' },
        { field: 'items.1.sku', reason: 'insufficient_stock' },
      ]);
      expect(await store.database.row(stockOf, [seller.id])).toEqual({ quantity: 3 });
    });

    it('never deadlocks on baskets in opposite order', async () => {
      const seller = await store.creator();
      const [a = '', b = ''] = (await store.release(seller.id, [{ quantity: 1000 }, { quantity: 1000 }]))
        .skus;
      const rateId = await store.quote(seller.token);
      const basket = (...skus: string[]) => ({
        ...orderBody(a, rateId),
        items: skus.map((item) => orderBody(item, rateId).items[0]),
      });
      const answers = await Promise.all(
        Array.from({ length: 80 }, (_, index) =>
          place(index % 2 === 0 ? basket(a, b) : basket(b, a), undefined, seller.token),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(await store.database.rows(stockOf, [seller.id])).toEqual([{ quantity: 920 }, { quantity: 920 }]);
    });
  });

  describe('bad input', () => {
    const good = () => orderBody(sku, rate);
    const cases: [string, () => object, number, string][] = [
      ['no body', () => ({}), 400, 'items'],
      ['a list in the list', () => ({ ...good(), items: [[]] }), 400, 'items'],
      ['null in the list', () => ({ ...good(), items: [null] }), 400, 'items'],
      [
        'a list for the price',
        () => ({ ...good(), items: [{ ...good().items[0], unit_price: [] }] }),
        400,
        'items.0.unit_price',
      ],
      ['no items', () => ({ ...good(), items: [] }), 400, 'items'],
      [
        '101 lines',
        () => ({ ...good(), items: Array.from({ length: 101 }, () => good().items[0]) }),
        400,
        'items',
      ],
      [
        'quantity 0',
        () => ({ ...good(), items: [{ ...good().items[0], quantity: 0 }] }),
        400,
        'items.0.quantity',
      ],
      [
        'quantity 1001',
        () => ({ ...good(), items: [{ ...good().items[0], quantity: 1001 }] }),
        400,
        'items.0.quantity',
      ],
      [
        'quantity as text',
        () => ({ ...good(), items: [{ ...good().items[0], quantity: '1' }] }),
        400,
        'items.0.quantity',
      ],
      [
        'quantity with a fraction',
        () => ({ ...good(), items: [{ ...good().items[0], quantity: 1.5 }] }),
        400,
        'items.0.quantity',
      ],
      [
        'a price above the largest',
        () => ({
          ...good(),
          items: [{ ...good().items[0], unit_price: { amount: maxAmount + 1, currency: 'GBP' } }],
        }),
        400,
        'items.0.unit_price.amount',
      ],
      ['no price', () => ({ ...good(), items: [{ sku, quantity: 1 }] }), 400, 'items.0.unit_price'],
      [
        'an unknown currency',
        () => ({ ...good(), items: [{ ...good().items[0], unit_price: { amount: 1, currency: 'CHF' } }] }),
        400,
        'items.0.unit_price.currency',
      ],
      ['no address', () => ({ ...good(), shipping_address: undefined }), 400, 'shipping_address'],
      [
        'an empty name',
        () => ({ ...good(), shipping_address: { ...address, full_name: '  ' } }),
        400,
        'shipping_address.full_name',
      ],
      [
        'a control character',
        () => ({ ...good(), shipping_address: { ...address, address_line_1: 'a\u0000b' } }),
        400,
        'shipping_address.address_line_1',
      ],
      [
        'no city in GB',
        () => ({ ...good(), shipping_address: { ...address, city: undefined } }),
        400,
        'shipping_address.city',
      ],
      [
        'no country of ISO 3166',
        () => ({ ...good(), shipping_address: { ...address, country_code: 'XX' } }),
        400,
        'shipping_address.country_code',
      ],
      ['an empty source member', () => ({ ...good(), source: { platform: '' } }), 400, 'source.platform'],
      [
        'another currency',
        () => ({ ...good(), items: [{ ...good().items[0], unit_price: { amount: 1, currency: 'USD' } }] }),
        422,
        'items.0.unit_price.currency',
      ],
      ['an unknown sku', () => orderBody('prod_00000000000000000000000001', rate), 422, 'items.0.sku'],
      [
        'a rate for another country',
        () => ({ ...good(), shipping_address: { ...address, country_code: 'DE' } }),
        422,
        'shipping_rate_id',
      ],
      [
        'a total above the largest',
        () => ({
          ...good(),
          items: [{ sku, quantity: 1000, unit_price: { amount: maxAmount, currency: 'GBP' } }],
        }),
        422,
        'items',
      ],
    ];
    it.each(cases)('%s', async (_, body, status, field) => {
      const refused = await place(body());
      expect([refused.status, refused.body.details?.[0].field]).toEqual([status, field]);
    });

    it('answers 404 for a rate of nobody or of another creator', async () => {
      const other = await store.creator();
      for (const foreign of ['rate_00000000000000000000000000', 'nonsense', await store.quote(other.token)]) {
        expect((await place(orderBody(sku, foreign))).status).toBe(404);
      }
    });

    it('tells another creator nothing of a sku', async () => {
      const other = await store.creator();
      const refused = await place(orderBody(sku, await store.quote(other.token)), undefined, other.token);
      expect(refused.body.details).toEqual([{ field: 'items.0.sku', reason: 'unknown_sku' }]);
    });

    it.each([
      [null, true, 'payment_method_missing'],
      ['pm_ok' as const, false, 'payment_terms_not_accepted'],
    ])('refuses a creator that cannot be charged (%s, terms %s)', async (method, terms, reason) => {
      const unready = await store.creator(method, terms);
      const [item = ''] = (await store.release(unready.id)).skus;
      const refused = await place(
        orderBody(item, await store.quote(unready.token)),
        undefined,
        unready.token,
      );
      expect([refused.status, refused.body.details?.[0].reason]).toEqual([422, reason]);
    });

    it('counts to the largest amount exactly', async () => {
      const jpy = await store.quote(creator.token, 'GB', 'JPY');
      const body = {
        ...good(),
        shipping_rate_id: jpy,
        items: [{ sku, quantity: 1, unit_price: { amount: maxAmount - 400, currency: 'JPY' } }],
      };
      const placed = await place(body);
      expect(placed.status).toBe(201);
      const read = await store.get(`/store/v1/orders/${placed.body.id}`, creator.token);
      expect(read.text).toContain(`"total":{"amount":${maxAmount},"currency":"JPY"}`);
    });
  });
});
