import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { cataloguePrices } from '../catalogue/catalogue-file.fixture.js';
import {
  address,
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
  shippingPrice,
  unitPrice,
} from '../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers, placedOrdersWith } from './order-helpers.fixture.js';
import { readItems, orderColumns, type OrderRow, orderSnapshot } from './order-row.js';

const readOrder = statement('test.order', `SELECT ${orderColumns} FROM orders WHERE id = $1`);
const changeCreator = statement(
  'test.change-creator',
  'UPDATE creators SET payment_method = $2, payment_terms_accepted = $3 WHERE id = $1',
);

describe('POST /v1/orders', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;
  let creator: Creator;
  let sku: string;
  let rate: string;

  beforeAll(async () => {
    // A charge without a response ends soon, and its order does not become due by itself.
    store = await startStoreApi({ PAYMENT_TIMEOUT_MS: '300', RESUME_AFTER_MS: '60000' });
    helpers = orderHelpers(store);
    creator = await store.creator();
    ({ sku } = await store.release(creator.id));
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  it('places and charges an order, and returns 201 with its Location', async () => {
    const source = { platform: 'shopify', external_order_id: '#1' };
    const placed = await helpers.place(creator, { ...orderBody(sku, rate, 2), source });
    expect(placed.status).toBe(201);
    expect(placed.body).toEqual({ id: expect.stringMatching(/^ord_[0-9a-z]{26}$/), status: 'processing' });
    expect(placed.headers['location']).toBe(`${store.config.BASE_URL}/store/v1/orders/${placed.body.id}`);

    const order = await store.readOrder(creator, placed.body.id);
    expect(order).toMatchObject({
      id: placed.body.id,
      status: 'processing',
      source: { platform: 'shopify', external_order_id: '#1', store_id: expect.any(String) },
      total: { amount: 2 * unitPrice + shippingPrice, currency: 'GBP' },
      item_count: 2,
      line_items: [
        { sku, title: 'Tidal Maps 1', quantity: 2, unit_price: { amount: unitPrice, currency: 'GBP' } },
      ],
      shipping_address: address,
      billing: {
        method: 'card',
        payment_status: 'paid',
        charged_at: expect.any(String),
        amount: { amount: 2 * cataloguePrices.GBP + shippingPrice, currency: 'GBP' },
      },
      shipping: { rate_id: rate, amount: { amount: shippingPrice, currency: 'GBP' } },
      tracking: null,
    });
    expect(await helpers.events(creator, 'order.')).toEqual(['order.created', 'order.processing']);
  });

  it('publishes order.processing with the order as it is stored', async () => {
    const { body: placed } = await helpers.place(creator, orderBody(sku, rate, 2), 'stored');
    const id = parsePublicId('ord', placed.id) ?? '';
    const row = await store.database.row<OrderRow>(readOrder, [id]);
    if (row === undefined) throw new Error('The order is not stored.');
    const published = await eventually(() =>
      store.broker.published.find(
        ({ type, data }) => type === 'order.processing' && JSON.stringify(data).includes(id),
      ),
    );
    expect(published.data).toEqual({ order: orderSnapshot(row, await readItems(store.database, id)) });
    expect(published.data).toMatchObject({ order: { client_id: expect.any(String) } });
    expect(row.updated_at.getTime()).toBeGreaterThan(row.created_at.getTime());
  });

  it('ignores unknown members, whatever their names', async () => {
    const odd = { ...orderBody(sku, rate), constructor: { constructor: 'x' }, note: { constructor: 'Acme' } };
    expect((await helpers.place(creator, odd)).status).toBe(201);
  });

  it('returns 201 payment_failed when the charge is declined, counts the order and returns the stock', async () => {
    const owner = await store.creator('pm_declined');
    const countedBefore = await placedOrdersWith('payment_failed');
    const { sku: limited } = await store.release(owner.id, [{ quantity: 5 }]);
    const placed = await helpers.place(owner, orderBody(limited, await store.quote(owner.token), 2));
    expect([placed.status, placed.body.status]).toEqual([201, 'payment_failed']);
    expect(await placedOrdersWith('payment_failed')).toBe(countedBefore + 1);
    expect(await helpers.stock(owner)).toEqual([5]);
    const order = await store.readOrder(owner, placed.body.id);
    expect(order.billing).toMatchObject({ payment_status: 'failed', charged_at: null });
    expect(await helpers.events(owner, 'order.')).toEqual(['order.created', 'order.payment_failed']);
  });

  it('returns 201 pending when the provider is silent; the completer settles the order and the stored response', async () => {
    const owner = await store.creator('pm_timeout');
    const { sku: item } = await store.release(owner.id);
    const body = orderBody(item, await store.quote(owner.token));
    const first = await helpers.place(owner, body, 'slow-1');
    expect([first.status, first.body.status]).toEqual([201, 'pending']);
    expect((await helpers.place(owner, body, 'slow-1')).body).toEqual(first.body);

    await helpers.runCompleter(owner);
    const replayed = await helpers.place(owner, body, 'slow-1');
    expect(replayed.body).toEqual({ id: first.body.id, status: 'processing' });
    expect(replayed.headers['idempotent-replayed']).toBe('true');
    expect(await helpers.providerCharges(owner)).toHaveLength(1);
  });

  describe('for a creator who cannot be charged', () => {
    const noMethod = { reason: 'payment_method_missing', message: 'The creator has no payment method.' };
    const noTerms = {
      reason: 'payment_terms_not_accepted',
      message: 'The creator has not accepted the payment terms.',
    };
    it.each([
      { method: null, termsAccepted: true, ...noMethod },
      { method: 'pm_ok', termsAccepted: false, ...noTerms },
      { method: null, termsAccepted: false, ...noMethod },
    ])(
      'returns 422 on billing (method $method, terms $termsAccepted), takes no stock and releases the key',
      async ({ method, termsAccepted, reason, message }) => {
        const owner = await store.creator(method, { termsAccepted });
        const { sku: item } = await store.release(owner.id, [{ quantity: 3 }]);
        const body = orderBody(item, await store.quote(owner.token));
        const response = await helpers.place(owner, body, 'unready');
        expect([response.status, response.body]).toEqual([
          422,
          expect.objectContaining({
            code: 'UNPROCESSABLE_ENTITY',
            message,
            details: [{ field: 'billing', reason }],
          }),
        ]);
        expect([await helpers.orderCount(owner), await helpers.stock(owner)]).toEqual([0, [3]]);

        await store.database.run(changeCreator, [owner.id, 'pm_ok', true]);
        expect((await helpers.place(owner, body, 'unready')).status).toBe(201);
      },
    );
  });
});
