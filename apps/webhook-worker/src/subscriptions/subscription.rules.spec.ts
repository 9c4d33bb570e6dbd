import { firstEventOf } from './subscription.rules.js';

describe('the first event that a subscription receives', () => {
  it.each([
    [['order.shipped', 'order.created'], 'order.shipped'],
    [['product.*', 'order.created'], 'product.available'],
    [['*'], 'order.created'],
    [['order.retired', 'order.delivered'], 'order.delivered'],
    [['order.retired'], undefined],
  ])('of %j is %s', (names, event) => {
    expect(firstEventOf(names)).toBe(event);
  });
});
