import { type Statement, statement } from '@fulfilment/database';
import { blocksRead, executedPlan } from '@fulfilment/database/testing';
import { type StoreApiUnderTest, startStoreApi } from '../../test/store-api.fixture.js';
import { orderHelpers } from '../order-helpers.fixture.js';
import { copyAsPending } from '../reading/copied-orders.fixture.js';
import { claimRetries, claimUnattempted } from './order-completer.js';

const waitingOrders = 20_000;
const setRetried = statement('test.set-retried', 'UPDATE orders SET resume_tries = 1');
const analyse = statement('test.analyse', 'ANALYZE orders');
/** Enough for the index scan and one row; a scan of all waiting orders reads hundreds of blocks. */
const maxBlocksPerRow = 10;
const leaseMs = 15_000;
const limit = 20;
const testAndLive = [true, false]; // values of orders.test

describe('the statements that claim pending orders, with 20,000 orders that wait for a retry,', () => {
  let store: StoreApiUnderTest;
  beforeAll(async () => {
    store = await startStoreApi();
    const helpers = orderHelpers(store);
    const { creator, body } = await helpers.prepareOrder();
    await helpers.place(creator, body);
    await store.database.run(setRetried);
    await copyAsPending(store.database, creator.id, waitingOrders);
  });
  afterAll(() => store.stop());

  const indexScanOf = async (claim: Statement) => {
    const nodes = await executedPlan(store.database, claim, [leaseMs, limit, testAndLive]);
    const scan = nodes.find((node) => node['Index Name']?.startsWith('orders_to_resume'));
    return {
      index: scan?.['Index Name'],
      rows: scan?.['Actual Rows'],
      filtered: scan?.['Rows Removed by Filter'] ?? 0,
      blocks: blocksRead(scan),
    };
  };

  it.each([
    ['before ANALYZE', false],
    ['after ANALYZE', true],
  ])('read only the orders they claim, %s', async (_, analysed) => {
    if (analysed) await store.database.run(analyse);
    const first = await indexScanOf(claimUnattempted);
    expect(first).toMatchObject({ index: 'orders_to_resume_first', rows: 0, filtered: 0 });
    expect(first.blocks).toBeLessThan(maxBlocksPerRow); // although no row is found
    const retries = await indexScanOf(claimRetries);
    expect(retries).toMatchObject({ index: 'orders_to_resume_again', rows: limit, filtered: 0 });
    expect(retries.blocks).toBeLessThan(maxBlocksPerRow * limit);
  });
});
