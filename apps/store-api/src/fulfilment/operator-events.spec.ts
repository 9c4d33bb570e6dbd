import { messages } from '@fulfilment/contracts';
import { startStoreApi, type StoreApiUnderTest } from '../test/store-api.fixture.js';

describe('a fulfilment event of an operator', () => {
  let store: StoreApiUnderTest;
  beforeAll(async () => {
    store = await startStoreApi();
  });
  afterAll(() => store.stop());

  it('is recorded with the operator’s name when it is applied, unlike one of the warehouse', async () => {
    const creator = await store.creator();
    const { sku } = await store.release(creator.id, [{ quantity: 10 }]);
    const count = (quantity: number) =>
      messages.fulfilmentStockSet.make({ sku, quantity }, { occurredAt: new Date() });
    const [ofOperator, ofWarehouse] = [{ ...count(4), operator: 'ann' }, count(5)];
    expect(await store.publishAndWait(ofOperator, ofWarehouse)).toEqual(['applied', 'applied']);
    expect(
      await store.database.rows({
        name: 'test.operator-audit',
        text: 'SELECT operator, command, subjects, outcome FROM operator_audit',
      }),
    ).toEqual([
      { operator: 'ann', command: 'fulfilment.stock_set', subjects: [ofOperator.id], outcome: 'done' },
    ]);
  });
});
