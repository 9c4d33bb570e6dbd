import { messages } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { orderHelpers } from '../orders/order-helpers.fixture.js';
import { startStoreApi, type StoreApiUnderTest } from '../test/store-api.fixture.js';
import { atMinute, delivered, shipped } from './fulfilment.fixture.js';

const recordsAbout = statement(
  'test.records-about',
  'SELECT command FROM operator_audit WHERE $1 = ANY(subjects)',
);
const recordsOfOperator = statement(
  'test.records-of-operator',
  'SELECT command, subjects, outcome FROM operator_audit WHERE operator = $1',
);

describe('a fulfilment event of an operator', () => {
  let store: StoreApiUnderTest;
  beforeAll(async () => {
    store = await startStoreApi();
  });
  afterAll(() => store.stop());

  const recordsOf = (operator: string) => store.database.rows(recordsOfOperator, [operator]);

  it("is recorded with the operator's name when it is applied, unlike an event of the warehouse", async () => {
    const creator = await store.creator();
    const { sku } = await store.release(creator.id, [{ quantity: 10 }]);
    const count = (quantity: number) =>
      messages.fulfilmentStockSet.make({ sku, quantity }, { occurredAt: new Date() });
    const [ofOperator, ofWarehouse] = [{ ...count(4), operator: 'ann' }, count(5)];
    expect(await store.publishAndWait(ofOperator, ofWarehouse)).toEqual(['applied', 'applied']);
    expect(await recordsOf('ann')).toEqual([
      { command: 'fulfilment.stock_set', subjects: [ofOperator.id], outcome: 'done' },
    ]);
    expect(await store.database.rows(recordsAbout, [ofWarehouse.id])).toEqual([]);
  });

  it('is recorded once when it is applied, not when it is deferred', async () => {
    const helpers = orderHelpers(store);
    const { creator, body } = await helpers.prepareOrder();
    const { id } = (await helpers.place(creator, body)).body;
    const delivery = { ...delivered(id, atMinute(2)), operator: 'bob' };
    expect(await store.publishAndWait(delivery)).toEqual([
      'cannot deliver an order that is still processing',
    ]);
    expect(await recordsOf('bob')).toEqual([]);
    await store.broker.publish(delivery, shipped(id, 'A', atMinute(1)));
    await eventually(async () => (await store.outcomeOf(delivery)).outcome === 'applied');
    expect(await recordsOf('bob')).toEqual([
      { command: 'fulfilment.delivered', subjects: [delivery.id], outcome: 'done' },
    ]);
  });
});
