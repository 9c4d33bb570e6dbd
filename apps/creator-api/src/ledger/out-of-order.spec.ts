import type { Message } from '@fulfilment/contracts';
import type { Database } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import fc from 'fast-check';
import { aCreator, registrationMessage } from '../creators/creator-snapshot.fixture.js';
import { CreatorAndOrderConsumer } from '../consumers/creator-and-order.consumer.js';
import { migrations } from '../migrations/index.js';
import { postWaitingOrders } from './post-waiting-orders.js';
import {
  nextNumber,
  orderHistory,
  orderMessages,
  postAllWaiting,
  rates,
  expectConsistentRows,
  shuffle,
  truncateTables,
} from './ledger.fixture.js';
import { loadRates } from '../exchange-rates/load-rates.js';
import { rebuildStatistics } from '../statistics/rebuild-statistics.js';

describe('messages that arrive twice, late and in any order', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  const consumer = new CreatorAndOrderConsumer({ scheduleCreators: () => undefined });

  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
    database = scratch.database;
    await loadRates(database, rates);
  });
  afterAll(() => scratch.drop());

  const handle = (batch: readonly Message[]) => database.transaction((tx) => consumer.handle(tx, batch));

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
            ...creators.map(registrationMessage),
            ...histories.flatMap((history) => orderMessages(creators, history)),
          ];
          for (const message of sentMessages) await handle([message]);
          await postAllWaiting(database);
          const expected = await expectConsistentRows(database, creators);
          await truncateTables(database);

          const withRepetitions = sentMessages.flatMap((message) =>
            nextNumber(chance) % 2 === 0 ? [message, message] : [message],
          );
          const shuffled = shuffle(withRepetitions, chance);
          for (let start = 0; start < shuffled.length; start += batchSize) {
            await handle(shuffled.slice(start, start + batchSize));
          }
          await postAllWaiting(database);
          expect(await expectConsistentRows(database, creators)).toEqual(expected);
          expect(await rebuildStatistics(database)).toEqual({
            rows: expected['monthRows']?.length,
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
      ...creators.map(registrationMessage),
    ];
    for (const message of sentMessages) await handle([message]);
    await postAllWaiting(database);
    const expected = await expectConsistentRows(database, creators);
    await truncateTables(database);

    // Each replica handles all messages, in a different order. The fixed order of locks prevents deadlocks.
    const messagesOfReplicas = [
      sentMessages,
      sentMessages.toReversed(),
      [...sentMessages.slice(90), ...sentMessages.slice(0, 90)],
    ];
    await Promise.all(
      messagesOfReplicas.map(async (replicaMessages) => {
        for (let start = 0; start < replicaMessages.length; start += 20) {
          await handle(replicaMessages.slice(start, start + 20));
          await postWaitingOrders(database);
        }
      }),
    );
    await postAllWaiting(database);
    expect(await expectConsistentRows(database, creators)).toEqual(expected);
  });
});
