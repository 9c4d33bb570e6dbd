import { type OrderRow, orderSnapshot, trackingTime } from './order-row.js';

const createdAt = new Date('2026-11-20T12:00:00Z');
const row: OrderRow = {
  id: 'order',
  creator_id: 'creator',
  client_id: 'client',
  version: 3,
  status: 'processing',
  platform: 'shopify',
  store_id: 'store',
  external_order_id: '#1042',
  currency: 'GBP',
  total_amount: 6283,
  item_count: 2,
  shipping_amount: 285,
  country_code: 'GB',
  billing_method: 'card',
  payment_status: 'paid',
  charge_amount: 5283,
  charged_at: null,
  refunded_at: null,
  packages: [],
  tracking_updated_at: null,
  delivered_at: null,
  metadata: {},
  test: false,
  created_at: createdAt,
  updated_at: new Date('2026-11-20T12:00:01Z'),
};
const item = {
  id: 'item',
  product_id: 'product',
  release_id: 'release',
  title: 'Quiet Machinery (12" LP)',
  release_title: 'Quiet Machinery',
  product_type: 'vinyl_12_lp',
  ean: null,
  quantity: 2,
  unit_amount: 2999,
  royalty_rate: 1500,
};
const packageWith = (tracking_number: string) => ({
  carrier: 'Royal Mail',
  tracking_number,
  tracking_url: `https://track.example/${tracking_number}`,
  shipped_at: '2026-11-21T09:30:00.000Z',
  delivered_at: null,
});

describe('the snapshot of an order', () => {
  it('has neither the charged amount nor the titles of products', () => {
    const { title: _, ...publicItem } = item;
    expect(orderSnapshot(row, [item])).toEqual({
      id: 'order',
      version: 3,
      creator_id: 'creator',
      client_id: 'client',
      status: 'processing',
      source: { platform: 'shopify', store_id: 'store', external_order_id: '#1042' },
      placed_at: '2026-11-20T12:00:00.000Z',
      updated_at: '2026-11-20T12:00:01.000Z',
      currency: 'GBP',
      country_code: 'GB',
      total_amount: 6283,
      shipping_amount: 285,
      item_count: 2,
      payment: { method: 'card', status: 'paid', charged_at: null, refunded_at: null },
      tracking: null,
      delivered_at: null,
      items: [publicItem],
    });
  });

  it('has its times, and the members that only some orders have', () => {
    const times = { charged_at: createdAt, refunded_at: createdAt, delivered_at: createdAt };
    const time = createdAt.toISOString();
    expect(orderSnapshot({ ...row, ...times, test: true, metadata: { cart: 'c' } }, [])).toMatchObject({
      payment: { charged_at: time, refunded_at: time },
      delivered_at: time,
      test: true,
      metadata: { cart: 'c' },
    });
  });

  it('has the tracking of the newest package, with its items if they are known', () => {
    const items = [{ sku: 'prod_x', quantity: 1 }];
    const trackingOf = (...packages: OrderRow['packages']) =>
      orderSnapshot({ ...row, packages, tracking_updated_at: createdAt }, []).tracking;
    const { shipped_at: _shipped, delivered_at: _delivered, ...tracking } = packageWith('B');
    const updated_at = createdAt.toISOString();
    expect(trackingOf(packageWith('A'), packageWith('B'))).toEqual({ ...tracking, updated_at });
    expect(trackingOf({ ...packageWith('B'), items })).toEqual({ ...tracking, items, updated_at });
  });
});

describe('the time of the tracking', () => {
  it('is that of its last change', () => {
    expect(trackingTime({ ...row, tracking_updated_at: createdAt })).toBe(createdAt);
  });
});
