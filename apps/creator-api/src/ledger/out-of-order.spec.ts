import type { Message } from '@fulfilment/contracts';
import type { Database } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import fc from 'fast-check';
import { aCreator, registered } from '../creators/creator-snapshot.fixture.js';
import { CreatorAndOrderConsumer } from '../consumers/creator-and-order.consumer.js';
import { migrations } from '../migrations/index.js';
import { postWaitingOrders } from './post-waiting-orders.js';
import {
  readAllRows,
  truncateTables,
  orderMessages,
  orderHistory,
  rates,
  postAllWaiting,
} from './ledger.fixture.js';
import { loadRates } from '../exchange-rates/load-rates.js';
import { rebuildStatistics } from '../statistics/rebuild-statistics.js';

describe('messages that arrive twice, late and in any order', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  const consumer = new CreatorAndOrderConsumer({ creatorsChanged: () => undefined });

  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
    database = scratch.database;
    await loadRates(database, rates);
  });
  afterAll(() => scratch.drop());

  const take = (batch: readonly Message[]) => database.transaction((tx) => consumer.handle(tx, batch));

  it('lead to the same orders, ledger and statistics', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(orderHistory, { minLength: 1, maxLength: 8 }),
        fc.infiniteStream(fc.nat()),
        fc.integer({ min: 1, max: 12 }),
        async (histories, chance, batchSize) => {
          await truncateTables(database);
          const creators = [
            aCreator('org_a', { settlement_currency: 'GBP' }),
            aCreator('org_a', { settlement_currency: 'JPY' }),
          ];
          const sentMessages = [
            ...creators.map(registered),
            ...histories.flatMap((history) => orderMessages(creators, history)),
          ];
          for (const message of sentMessages) await take([message]);
          await postAllWaiting(database);
          const expected = await readAllRows(database, creators);
          await truncateTables(database);

          const ordinal = () => chance.next().value ?? 0;
          const twice = sentMessages.flatMap((message) =>
            ordinal() % 2 === 0 ? [message, message] : [message],
          );
          const shuffled = twice
            .map((message) => ({ message, at: ordinal() }))
            .sort((one, other) => one.at - other.at)
            .map(({ message }) => message);
          for (let start = 0; start < shuffled.length; start += batchSize) {
            await take(shuffled.slice(start, start + batchSize));
          }
          await postAllWaiting(database);
          expect(await readAllRows(database, creators)).toEqual(expected);
          expect(await rebuildStatistics(database)).toEqual({
            rows: expected.monthRows?.length,
            differed: 0,
          });
        },
      ),
      { numRuns: 15 },
    );
  });

  it('lead to the same rows when replicas handle them concurrently', async () => {
    await truncateTables(database);
    const creators = [aCreator('org_a'), aCreator('org_a', { settlement_currency: 'JPY' })];
    const histories = fc.sample(orderHistory, { numRuns: 60, seed: 7 });
    const sentMessages = [
      ...histories.flatMap((each) => orderMessages(creators, each)),
      ...creators.map(registered),
    ];
    for (const message of sentMessages) await take([message]);
    await postAllWaiting(database);
    const expected = await readAllRows(database, creators);
    await truncateTables(database);

    // Each replica handles every message in a different order. A fixed lock order prevents deadlocks.
    const replicas = [
      sentMessages,
      sentMessages.toReversed(),
      [...sentMessages.slice(90), ...sentMessages.slice(0, 90)],
    ];
    await Promise.all(
      replicas.map(async (share) => {
        for (let start = 0; start < share.length; start += 20) {
          await take(share.slice(start, start + 20));
          await postWaitingOrders(database);
        }
      }),
    );
    await postAllWaiting(database);
    expect(await readAllRows(database, creators)).toEqual(expected);
  });
});
