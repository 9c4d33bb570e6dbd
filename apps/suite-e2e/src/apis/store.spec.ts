import { randomUUID } from 'node:crypto';
import { errorOf, fieldsOf } from '../suite/error-envelope.js';
import { type Merchant, newMerchant, newProduct, type Product } from '../suite/merchant.js';
import { operate } from '../suite/operator.js';
import { address, orderBody, placeOrder, quote, unitPrice } from '../suite/orders.js';

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const currencies = ['GBP', 'USD', 'EUR', 'JPY'];

describe('the Store API', () => {
  let merchant: Merchant;
  let otherMerchant: Merchant;
  let product: Product;
  beforeAll(async () => {
    [merchant, otherMerchant] = await Promise.all([newMerchant(), newMerchant()]);
    product = await newProduct(merchant);
  });

  const place = (body: object, key?: string) => {
    const pending = merchant.store.post('/store/v1/orders', body);
    return key === undefined ? pending : pending.set('idempotency-key', key);
  };

  it('returns the connected creator', async () => {
    const { body } = await merchant.store.get('/store/v1/creator').expect(200);
    expect(body).toEqual({
      id: merchant.creator.id,
      name: expect.any(String),
      billing_status: {
        payment_method_added: true,
        tax_interview_completed: true,
        payment_terms_accepted: true,
      },
    });
  });

  it('lists releases in any currency, as a summary or in detail, and rejects invalid parameters', async () => {
    for (const currency of currencies) {
      const { body } = await merchant.store.get(`/store/v1/releases?currency=${currency}`).expect(200);
      expect(body.pagination).toEqual({ next_cursor: null, has_more: false });
      expect(body.data[0].price_range).toMatchObject({ currency });
      expect(body.data[0].price_range.min).toBeGreaterThan(0);
    }
    const detailed = await merchant.store.get('/store/v1/releases?format=detailed').expect(200);
    expect(detailed.body.data[0].products[0]).toMatchObject({ id: product.sku, status: 'available' });
    for (const invalid of [
      'limit=0',
      'limit=101',
      'limit=x',
      'currency=XXX',
      'format=all',
      'cursor=forged.x',
    ]) {
      const rejected = await merchant.store.get(`/store/v1/releases?${invalid}`).expect(400);
      expect(fieldsOf(rejected)).toEqual([invalid.split('=')[0]]);
    }
  });

  it('returns the details of a release', async () => {
    const { body } = await merchant.store.get(`/store/v1/releases/${product.releaseId}`).expect(200);
    expect(body).toMatchObject({
      id: product.releaseId,
      status: 'available',
      created_at: expect.stringMatching(dateTime),
    });
    expect(body.products[0]).toMatchObject({
      id: product.sku,
      price: { amount: expect.any(Number), currency: 'GBP' },
      product_lead_time: expect.any(Number),
      track_listing: expect.any(Array),
      availability: { limited_edition: false, quantity: null },
    });
  });

  it.each(currencies)('quotes shipping in %s, cheapest first', async (currency) => {
    const { body } = await merchant.store
      .post(`/store/v1/shipping-rates?currency=${currency}`, {
        country_code: 'GB',
        items: [{ sku: product.sku, quantity: 2 }],
      })
      .expect(200);
    const amounts = body.data.map((rate: { price: { amount: number } }) => rate.price.amount);
    expect(amounts.length).toBeGreaterThan(0);
    expect(amounts).toEqual([...amounts].sort((a: number, b: number) => a - b));
    expect(body.data[0]).toMatchObject({
      name: expect.any(String),
      carriers: expect.any(Array),
      price: { currency },
    });
  });

  it('lists shipping services', async () => {
    const { body } = await merchant.store.get('/store/v1/shipping-services').expect(200);
    expect(body.data[0]).toMatchObject({ id: expect.any(String), name: expect.any(String) });
  });

  it('places one order per idempotency key, rejects the key with another body, and returns the order', async () => {
    const items = [{ sku: product.sku, quantity: 2 }];
    const rate = await quote(merchant.store, items);
    const order = orderBody(items, rate.id);
    const key = randomUUID();
    const responses = await Promise.all([1, 2, 3].map(() => place(order, key)));
    for (const { status } of responses) expect([201, 409]).toContain(status);
    const replayed = await place(order, key).expect(201);
    expect(replayed.get('idempotent-replayed')).toBe('true');
    expect(replayed.body).toEqual({ id: expect.stringMatching(/^ord_/), status: 'processing' });
    const ids = responses.filter(({ status }) => status === 201).map(({ body }) => body.id);
    expect(new Set(ids)).toEqual(new Set([replayed.body.id]));
    const other = await place({ ...order, source: { platform: 'other' } }, key).expect(409);
    expect(errorOf(other).code).toBe('CONFLICT');

    const { body: full } = await merchant.store.get(`/store/v1/orders/${replayed.body.id}`).expect(200);
    expect(full).toMatchObject({
      status: 'processing',
      source: { platform: 'api', store_id: merchant.app.clientId, external_order_id: full.id },
      total: { amount: 2 * unitPrice.amount + rate.amount, currency: 'GBP' },
      item_count: 2,
      line_items: [{ sku: product.sku, quantity: 2, unit_price: unitPrice }],
      shipping_address: address,
      billing: { payment_status: 'paid', charged_at: expect.stringMatching(dateTime) },
      shipping: { rate_id: rate.id, amount: { amount: rate.amount, currency: 'GBP' } },
      tracking: null,
      created_at: expect.stringMatching(dateTime),
      updated_at: expect.stringMatching(dateTime),
    });
  });

  it('accepts an order whose payment fails', async () => {
    const decliningMerchant = await newMerchant('pm_declined');
    const { sku } = await newProduct(decliningMerchant);
    const { store } = decliningMerchant;
    const items = [{ sku, quantity: 1 }];
    const rate = await quote(store, items);
    const { body } = await store.post('/store/v1/orders', orderBody(items, rate.id)).expect(201);
    expect(body.status).toBe('payment_failed');
    const { body: listed } = await store.get('/store/v1/orders?status=payment_failed').expect(200);
    expect(listed.data.map(({ id }: { id: string }) => id)).toContain(body.id);
  });

  it('rejects unknown products, with a detail for each, and an unknown shipping rate', async () => {
    const rate = await quote(merchant.store, [{ sku: product.sku, quantity: 1 }]);
    const unknown = `prod_${'0'.repeat(26)}`;
    const rejected = await place(
      orderBody(
        [
          { sku: product.sku, quantity: 1 },
          { sku: unknown, quantity: 1 },
          { sku: 'no id', quantity: 1 },
        ],
        rate.id,
      ),
    ).expect(422);
    expect(errorOf(rejected).code).toBe('UNPROCESSABLE_ENTITY');
    expect(errorOf(rejected).details).toEqual([
      { field: 'items.1.sku', reason: 'unknown_sku' },
      { field: 'items.2.sku', reason: 'unknown_sku' },
    ]);
    const noRate = await place(
      orderBody([{ sku: product.sku, quantity: 1 }], `rate_${'0'.repeat(26)}`),
    ).expect(404);
    expect(errorOf(noRate).code).toBe('NOT_FOUND');
  });

  it('sells a limited edition only while it is in stock', async () => {
    const limited = await newProduct(merchant);
    await operate(['stock', 'set', limited.sku, '3']);
    const items = [{ sku: limited.sku, quantity: 1 }];
    const rate = await quote(merchant.store, items);
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => place(orderBody(items, rate.id), randomUUID())),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422, 422, 422]);
    const { body } = await merchant.store.get(`/store/v1/releases/${limited.releaseId}`).expect(200);
    // A sold-out product stays on sale: its quantity shows that it has no stock.
    expect(body.products[0]).toMatchObject({
      status: 'available',
      availability: { limited_edition: true, quantity: 0 },
    });
  });

  it('lists each order once in cursor pages, newest first, and rejects an unknown status and the cursor of another list', async () => {
    const placed: string[] = [];
    for (let count = 0; count < 3; count += 1)
      placed.push(await placeOrder(merchant.store, [{ sku: product.sku, quantity: 1 }]));
    const all = await merchant.store.get('/store/v1/orders?limit=100').expect(200);
    const ids = all.body.data.map(({ id }: { id: string }) => id);
    expect(ids.slice(0, 3)).toEqual(placed.toReversed());
    const paged: string[] = [];
    let cursor = '';
    do {
      const { body } = await merchant.store.get(`/store/v1/orders?limit=2${cursor}`).expect(200);
      paged.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.pagination.has_more ? `&cursor=${encodeURIComponent(body.pagination.next_cursor)}` : '';
    } while (cursor !== '');
    expect(paged).toEqual(ids);
    const first = await merchant.store.get('/store/v1/orders?limit=1').expect(200);
    const firstCursor = `cursor=${encodeURIComponent(first.body.pagination.next_cursor)}`;
    expect(fieldsOf(await otherMerchant.store.get(`/store/v1/orders?${firstCursor}`).expect(400))).toEqual([
      'cursor',
    ]);
    expect(
      fieldsOf(await merchant.store.get(`/store/v1/orders?status=shipped&${firstCursor}`).expect(400)),
    ).toEqual(['cursor']);
    await merchant.store.get('/store/v1/orders?status=nothing').expect(400);
  });

  it('hides the resources of a creator from another, like resources that do not exist', async () => {
    const id = await placeOrder(merchant.store, [{ sku: product.sku, quantity: 1 }]);
    for (const path of [`/store/v1/orders/${id}`, `/store/v1/releases/${product.releaseId}`]) {
      expect(errorOf(await otherMerchant.store.get(path).expect(404)).code).toBe('NOT_FOUND');
    }
    const { body } = await otherMerchant.store.get('/store/v1/orders?limit=100').expect(200);
    expect(body.data.map((order: { id: string }) => order.id)).not.toContain(id);
    const quoted = await otherMerchant.store
      .post('/store/v1/shipping-rates', { country_code: 'GB', items: [{ sku: product.sku, quantity: 1 }] })
      .expect(422);
    expect(errorOf(quoted).details).toEqual([{ field: 'items.0.sku', reason: 'unknown_sku' }]);
    await merchant.store.get('/store/v1/orders/not-an-id').expect(404);
  });
});
