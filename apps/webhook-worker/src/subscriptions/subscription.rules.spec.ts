import { distinctEvents, firstEventOf, unknownEvents } from './subscription.rules.js';

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

describe('the event names of a request', () => {
  it('are names of events, or stand for all events or all of a kind', () => {
    expect(unknownEvents(['order.created', '*', 'order.*', 'product.*'])).toEqual([]);
    expect(unknownEvents(['*', 'order', 'order.*', 1])).toEqual(
      ['events.1', 'events.3'].map((field) => ({ field, reason: 'is not the name of an event' })),
    );
  });

  it('are kept in their order, without repeated and unknown names', () => {
    expect(distinctEvents(['product.*', '*', 'order', 'product.*', 'order.created'])).toEqual([
      'product.*',
      '*',
      'order.created',
    ]);
  });
});
