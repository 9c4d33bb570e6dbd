import { apiVersion, isKnownEvent, isTestEvent, type ReceivedEvent, webhookEventNames } from './index.js';

const order: ReceivedEvent = {
  id: 'evt_1',
  api_version: apiVersion,
  created_at: '2026-11-21T09:30:00.000Z',
  event: 'order.created',
  data: { order_id: 'ord_1', total: { amount: 2849, currency: 'GBP' } },
};

describe('a received event', () => {
  it.each(webhookEventNames)('is known if its name is %s', (event) => {
    expect(isKnownEvent({ ...order, event })).toBe(true);
  });

  it('has typed data after isKnownEvent and a comparison of its name', () => {
    if (!isKnownEvent(order) || order.event !== 'order.created')
      throw new Error('The event is not a known order.created.');
    const { amount }: { amount: number } = order.data.total;
    expect(amount).toBe(2849);
  });

  it('is unknown if its name or its api_version is unknown', () => {
    expect(isKnownEvent({ ...order, event: 'order.returned' })).toBe(false);
    expect(isKnownEvent({ ...order, event: 'toString' })).toBe(false);
    expect(isKnownEvent({ ...order, api_version: '2031-01-01' })).toBe(false);
  });

  it('is a test event if its id starts with evt_test_', () => {
    expect(isTestEvent(order)).toBe(false);
    expect(isTestEvent({ ...order, id: 'evt_test_1' })).toBe(true);
  });
});
