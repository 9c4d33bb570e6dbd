import { eventually } from '@fulfilment/testing';
import { creatorApi, type CreatorApi, ownerClaims } from './creator-api.fixture.js';
import { aCreator, registrationMessage } from '../creators/creator-snapshot.fixture.js';
import { anItem, anOrder, transitioned, orderMessage, paid } from '../orders/order-snapshot.fixture.js';

describe('the path from order messages to the Creator API', () => {
  let api: CreatorApi;
  const creator = aCreator('org_harbour');
  const owner = ownerClaims('org_harbour');
  const item = anItem({ quantity: 3, unit_amount: 1000, royalty_rate: 1500 });

  beforeAll(async () => {
    api = await creatorApi();
  });
  afterAll(() => api.stop());

  it('returns an order from a message, its sale in the month of the payment, and later its tracking', async () => {
    const placed = anOrder(creator.id, { items: [item] });
    await api.publish(registrationMessage(creator), orderMessage(placed), orderMessage(paid(placed)));
    const list = await eventually(async () => {
      const { body } = await api.get(`/api/v1/orders?creator=${creator.id}&status=paid`, owner);
      return body.data?.length === 1 ? body : undefined;
    });
    // 3000 including 20 % VAT: 500 VAT; 15 % of 2500 is 375.
    expect(list).toEqual({
      data: [
        {
          uuid: placed.id,
          human_order_id: expect.stringMatching(/^ord_[0-9a-z]{26}$/),
          placed_at: '2026-03-10T12:00:00.000Z',
          currency: 'GBP',
          payment_status: 'paid',
          dispatch_status: 'in_production',
          tracking_code: '',
          totals: { gross: 3000, royalty: 375 },
          items_count: 3,
          app: null,
        },
      ],
      meta: { page: 1, per_page: 25, total: 1 },
    });
    const detail = await api.get(`/api/v1/orders/${placed.id}`, owner);
    expect(detail.body).toMatchObject({ uuid: placed.id, totals: { royalty: 375 } });
    expect(detail.body.items).toEqual([
      {
        uuid: item.id,
        release_group: item.release_id,
        release_title: 'Tidal Maps',
        ean: '2000000000015',
        status: 'in_production',
        quantity: 3,
        unit_amount: 1000,
        total_amount: 3000,
        vat_amount: 500,
        royalty_amount: 375,
        royalty_rate: 1500,
        product_type: 'vinyl_12_lp',
      },
    ]);
    const sales = await api.get(`/api/v1/creators/${creator.id}/stats/sales?period=2026-03`, owner);
    expect(sales.body).toEqual({ period: '2026-03', currency: 'GBP', totals: { units: 3, revenue: 3000 } });
    const royalties = await api.get(`/api/v1/creators/${creator.id}/stats/royalties?period=2026-03`, owner);
    expect(royalties.body).toEqual({
      period: '2026-03',
      currency: 'GBP',
      totals: { units: 3, revenue: 3000, royalties: 375 },
      by_release: [{ release_group: item.release_id, ean: '2000000000015', units: 3, royalty_amount: 375 }],
    });

    const shipped = transitioned(paid(placed), 'shipped');
    await api.publish(orderMessage(shipped));
    await eventually(async () => {
      const { body } = await api.get(`/api/v1/orders/${placed.id}`, owner);
      return body.tracking_code === 'TEST1' && body.dispatch_status === 'dispatched' ? body : undefined;
    });
  });

  it('dead-letters an order whose total exceeds the maximum amount, and processes the next message', async () => {
    const tooMuch = anOrder(creator.id, {
      items: [anItem({ quantity: 1000, unit_amount: Number.MAX_SAFE_INTEGER })],
      total_amount: 1, // valid in the message; only the sum of its lines is too large
    });
    const next = anOrder(creator.id);
    await api.publish(orderMessage(tooMuch), orderMessage(next));
    const response = await eventually(async () => {
      const read = await api.get(`/api/v1/orders/${next.id}`, owner);
      return read.status === 200 ? read : undefined;
    });
    expect(response.body.uuid).toBe(next.id);
    const reasons = await eventually(async () => {
      const letters = await api.broker.takeDeadLetters('creator-api.facts');
      return letters.length > 0 ? letters : undefined;
    });
    expect(reasons).toEqual(['The total of the order lines exceeds the maximum amount.']);
  });
});
