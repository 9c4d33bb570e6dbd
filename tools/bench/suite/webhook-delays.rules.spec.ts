import { delaysOfWebhooks } from './webhook-delays.rules.ts';

const orders = [
  { id: 'ord_1', respondedAtMs: 100 },
  { id: 'ord_2', respondedAtMs: 200 },
];
const delivery = (orderId: string, arrivedAtMs: number) => ({
  signed: true,
  arrivedAtMs,
  envelope: { id: 'evt', created_at: '2026-01-01', data: { order_id: orderId } },
});

describe('delaysOfWebhooks', () => {
  it('returns the time from each response to its delivery, in the sequence in which the orders were given', () => {
    expect(delaysOfWebhooks(orders, [delivery('ord_2', 207), delivery('ord_1', 103)])).toEqual([3, 7]);
  });

  it.each([
    ['is missing', [delivery('ord_1', 103)], { received: 1, signed: 1, missing: 1 }],
    [
      'is not signed',
      [delivery('ord_1', 103), { ...delivery('ord_2', 207), signed: false }],
      { received: 2, signed: 1, missing: 1 },
    ],
    [
      'is for another order',
      [delivery('ord_1', 103), delivery('ord_3', 207)],
      { received: 2, signed: 2, missing: 1 },
    ],
    [
      'arrived twice',
      [delivery('ord_1', 103), delivery('ord_2', 207), delivery('ord_2', 208)],
      { received: 3, signed: 3, missing: 0 },
    ],
  ])('fails with the counts when a delivery %s', (_, received, counts) => {
    expect(() => delaysOfWebhooks(orders, received)).toThrow(JSON.stringify({ orders: 2, ...counts }));
  });
});
