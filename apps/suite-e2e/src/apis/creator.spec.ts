import { createCreatorClient, followOrders } from '@fulfilment/client/creator';
import { eventually } from '@fulfilment/testing';
import { randomBytes, randomUUID } from 'node:crypto';
import { ApiClient } from '../suite/api-client.js';
import { errorOf, fieldsOf } from '../suite/error-envelope.js';
import { type Merchant, newMember, newMerchant, newProduct, type Product } from '../suite/merchant.js';
import { operate } from '../suite/operator.js';
import { placeOrder, unitPrice } from '../suite/orders.js';
import { dashboardToken } from '../suite/sign-in.js';
import { demoUser, suite } from '../suite/the-suite.js';
import { fetchFromSuite } from '../suite/fetch-from-suite.js';

const api = '/creator/api/v1';
/** The month whose statistics contain the order. */
const monthOf = (order: { placed_at: string }) => order.placed_at.slice(0, 7);

describe('the Creator API', () => {
  let merchant: Merchant;
  let otherMerchant: Merchant;
  let operator: ApiClient;
  let product: Product;
  let orderId: string;
  beforeAll(async () => {
    [merchant, otherMerchant] = await Promise.all([newMerchant(), newMerchant()]);
    operator = new ApiClient(await dashboardToken(demoUser('operator@platform.example')));
    product = await newProduct(merchant);
    orderId = await placeOrder(merchant.store, [{ sku: product.sku, quantity: 3 }]);
  });

  const orders = (client: ApiClient, query = '') =>
    client.get(`${api}/orders?creator=${merchant.creator.uuid}${query}`);
  /** Waits until the Creator API shows the order as paid, and returns its summary. */
  const projectedOrder = () =>
    eventually(async () => {
      const { body } = await orders(merchant.dashboard).expect(200);
      return body.data.find(
        (row: Record<string, string>) => row.human_order_id === orderId && row.payment_status === 'paid',
      );
    });

  it('lists the creators of an organisation to its members, and all creators to the operator', async () => {
    const seenBy = async (client: ApiClient) => {
      const { body } = await client.get(`${api}/creators?per_page=100`).expect(200);
      expect(body.meta).toEqual({ page: 1, per_page: 100, total: expect.any(Number) });
      return body.data.map(({ uuid }: { uuid: string }) => uuid);
    };
    expect(await seenBy(merchant.dashboard)).toEqual([merchant.creator.uuid]);
    expect(await seenBy(otherMerchant.dashboard)).toEqual([otherMerchant.creator.uuid]);
    const all = await operator.get(`${api}/creators?per_page=1`).expect(200);
    expect(all.body.meta.total).toBeGreaterThanOrEqual(3 + 2); // of the demo data and of this test
    const member = {
      email: `${randomBytes(6).toString('hex')}@member.example`,
      password: 'correct horse battery',
    };
    await newMember(merchant.organisationId, member);
    expect(await seenBy(new ApiClient(await dashboardToken(member)))).toEqual([merchant.creator.uuid]);
  });

  it('separates the two organisations of the demo data', async () => {
    const [harbour, meridian] = await Promise.all(
      ['owner@harbour.example', 'owner@meridian.example'].map(async (email) => {
        const client = new ApiClient(await dashboardToken(demoUser(email)));
        return (await client.get(`${api}/creators`).expect(200)).body.data;
      }),
    );
    expect(harbour).toHaveLength(1);
    expect(meridian).toHaveLength(2);
    expect(meridian.map(({ uuid }: { uuid: string }) => uuid)).not.toContain(harbour[0].uuid);
  });

  it('returns an order of the Store API with its amounts', async () => {
    const summary = await projectedOrder();
    expect(summary).toEqual({
      uuid: expect.any(String),
      human_order_id: orderId,
      placed_at: expect.any(String),
      currency: 'GBP',
      payment_status: 'paid',
      dispatch_status: expect.stringMatching(/^(pending|in_production)$/),
      tracking_code: '',
      totals: { gross: 3 * unitPrice.amount, royalty: expect.any(Number) },
      items_count: 3,
      app: expect.any(String),
    });
    const { body } = await merchant.dashboard.get(`${api}/orders/${summary.uuid}`).expect(200);
    expect(body.totals).toEqual({ royalty: summary.totals.royalty });
    const [item] = body.items;
    expect(item).toMatchObject({
      release_group: product.releaseUuid,
      quantity: 3,
      unit_amount: unitPrice.amount,
      total_amount: 3 * unitPrice.amount,
    });
    const vat = Math.round((item.total_amount * 20) / 120); // the total includes British VAT
    expect(item.vat_amount).toBe(vat);
    const exactRoyalty = ((item.total_amount - vat) * item.royalty_rate) / 10_000; // a rate in basis points
    expect(Math.abs(item.royalty_amount - exactRoyalty)).toBeLessThanOrEqual(0.5);
    expect(summary.totals.royalty).toBe(item.royalty_amount);
  });

  it('lists the app of an order with its name and the number of its orders', async () => {
    const { app } = await projectedOrder();
    const apps = await merchant.dashboard.get(`${api}/creators/${merchant.creator.uuid}/apps`).expect(200);
    expect(apps.body.data).toContainEqual(
      expect.objectContaining({ client_id: app, name: expect.any(String), orders: 1 }),
    );
  });

  it('streams new orders through the gateway', async () => {
    const baseUrl = `${suite.base_url}/creator`;
    const client = createCreatorClient({
      baseUrl,
      auth: otherMerchant.dashboard.token,
      fetch: fetchFromSuite,
    });
    const events = followOrders({ client, creator: otherMerchant.creator.uuid });
    expect((await events.next()).value).toMatchObject({ event: 'open' });
    const { sku } = await newProduct(otherMerchant);
    const id = await placeOrder(otherMerchant.store, [{ sku, quantity: 1 }]);
    expect((await events.next()).value).toMatchObject({
      event: 'order.created',
      order: { human_order_id: id },
    });
    await events.return(undefined);
  });

  it('filters orders by status and by day, and rejects invalid filters', async () => {
    const placedOn = (await projectedOrder()).placed_at.slice(0, 10);
    const found = async (query: string) =>
      (await orders(merchant.dashboard, query).expect(200)).body.meta.total;
    expect(await found('&status=paid')).toBe(1);
    expect(await found('&status=delivered')).toBe(0);
    expect(await found('&from=2020-01-01&to=2020-01-31')).toBe(0);
    expect(await found(`&from=${placedOn}&to=${placedOn}`)).toBe(1); // both days are included
    expect(await found('&page=5')).toBe(1); // the total of all pages
    for (const [query, field] of [
      ['&from=2020-02-30', 'from'],
      ['&status=unknown', 'status'],
      ['&page=0', 'page'],
      ['&per_page=101', 'per_page'],
    ] as const) {
      expect(fieldsOf(await orders(merchant.dashboard, query).expect(400))).toEqual([field]);
    }
    await orders(merchant.dashboard, '&from=2020-02-02&to=2020-02-01').expect(400);
    expect(fieldsOf(await merchant.dashboard.get(`${api}/orders`).expect(400))).toEqual(['creator']);
  });

  it('hides orders and statistics of an organisation from another', async () => {
    const order = await projectedOrder();
    const stats = `${api}/creators/${merchant.creator.uuid}/stats`;
    for (const path of [
      `${api}/orders?creator=${merchant.creator.uuid}`,
      `${api}/orders/${order.uuid}`,
      `${stats}/sales?period=${monthOf(order)}`,
      `${stats}/royalties?period=${monthOf(order)}`,
    ]) {
      expect(errorOf(await otherMerchant.dashboard.get(path).expect(404)).code).toBe('NOT_FOUND');
      await operator.get(path).expect(200);
    }
  });

  it('rejects an unknown order, an invalid UUID, and a token for the Store API only', async () => {
    await merchant.dashboard.get(`${api}/orders/${randomUUID()}`).expect(404);
    await merchant.dashboard.get(`${api}/orders/not-a-uuid`).expect(400);
    expect(errorOf(await merchant.store.get(`${api}/creators`).expect(401)).code).toBe('UNAUTHORIZED');
  });

  it('sums the sales and royalties of a month, zero without sales, and rejects an invalid month', async () => {
    const order = await projectedOrder();
    const { totals } = order;
    const stats = (name: string, period = monthOf(order)) =>
      merchant.dashboard.get(`${api}/creators/${merchant.creator.uuid}/stats/${name}?period=${period}`);
    const sales = await eventually(async () => {
      const { body } = await stats('sales').expect(200);
      return body.totals.units > 0 ? body : undefined;
    });
    expect(sales).toEqual({
      period: monthOf(order),
      currency: 'GBP',
      totals: { units: 3, revenue: totals.gross },
    });
    const { body: royalties } = await stats('royalties').expect(200);
    expect(royalties.totals).toEqual({ units: 3, revenue: totals.gross, royalties: totals.royalty });
    expect(royalties.by_release).toEqual([
      {
        release_group: product.releaseUuid,
        ean: expect.any(String),
        units: 3,
        royalty_amount: totals.royalty,
      },
    ]);
    expect((await stats('sales', '2031-01').expect(200)).body.totals).toEqual({ units: 0, revenue: 0 });
    for (const period of ['2026-13', '2026-00', '2026', '2026-1']) {
      expect(fieldsOf(await stats('sales', period).expect(400))).toEqual(['period']);
    }
  });

  it('returns the same data after its read models were rebuilt by a replay', async () => {
    const period = monthOf(await projectedOrder());
    const read = async () => {
      const stats = `${api}/creators/${merchant.creator.uuid}/stats`;
      const { body: list } = await orders(merchant.dashboard).expect(200);
      const { body: sales } = await merchant.dashboard.get(`${stats}/sales?period=${period}`).expect(200);
      const { body } = await merchant.dashboard.get(`${stats}/royalties?period=${period}`).expect(200);
      return { list, sales, royalties: body };
    };
    const before = await read();
    const rebuilt = await operate(['creator', 'rebuild']);
    expect(rebuilt).toMatchObject({ statistics: { differed: 0 }, order_counts: { differed: 0 } });
    expect(Number(rebuilt.orders)).toBeGreaterThanOrEqual(1);
    expect(Number(rebuilt.creators)).toBeGreaterThanOrEqual(2); // the merchants of this test
    expect(await read()).toEqual(before);
  });
});
