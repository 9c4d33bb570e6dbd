import type { Message } from '@fulfilment/contracts';
import type { Database } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/testing';
import fc from 'fast-check';
import { aCreator, registered } from '../creators/creator-snapshot.fixture.js';
import { factsConsumer } from '../facts.consumer.js';
import { migrations } from '../migrations/index.js';
import { bookWaiting } from './book-waiting.js';
import { everything, forgetAll, historyOf, life, rates, settle } from './books.fixture.js';
import { loadRates } from './load-rates.js';
import { rebuildStatistics } from './rebuild-statistics.js';

describe('messages that come twice, late and in any order', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  const handle = factsConsumer(() => undefined).handle;

  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
    database = scratch.database;
    await loadRates(database, rates);
  });
  afterAll(() => scratch.drop());

  const take = (batch: readonly Message[]) => database.transaction((tx) => handle(tx, batch));

  it('leave the same orders, the same ledger and the same statistics', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(life, { minLength: 1, maxLength: 8 }),
        fc.infiniteStream(fc.nat()),
        fc.integer({ min: 1, max: 12 }),
        async (lives, chance, batchSize) => {
          await forgetAll(database);
          const creators = [
            aCreator('org_a', { settlement_currency: 'GBP' }),
            aCreator('org_a', { settlement_currency: 'JPY' }),
          ];
          const facts = [...creators.map(registered), ...lives.flatMap((each) => historyOf(creators, each))];
          for (const fact of facts) await take([fact]);
          await settle(database);
          const expected = await everything(database, creators);
          await forgetAll(database);

          const ordinal = () => chance.next().value ?? 0;
          const twice = facts.flatMap((fact) => (ordinal() % 2 === 0 ? [fact, fact] : [fact]));
          const shuffled = twice
            .map((fact) => ({ fact, at: ordinal() }))
            .sort((one, other) => one.at - other.at)
            .map(({ fact }) => fact);
          for (let start = 0; start < shuffled.length; start += batchSize) {
            await take(shuffled.slice(start, start + batchSize));
          }
          await settle(database);
          expect(await everything(database, creators)).toEqual(expected);
          expect(await rebuildStatistics(database)).toEqual({
            rows: expected.rowsOfMonths?.length,
            differed: 0,
          });
        },
      ),
      { numRuns: 15 },
    );
  }, 60_000);

  it('leave the same when replicas take them at once', async () => {
    await forgetAll(database);
    const creators = [aCreator('org_a'), aCreator('org_a', { settlement_currency: 'JPY' })];
    const lives = fc.sample(life, { numRuns: 60, seed: 7 });
    const facts = [...lives.flatMap((each) => historyOf(creators, each)), ...creators.map(registered)];
    for (const fact of facts) await take([fact]);
    await settle(database);
    const expected = await everything(database, creators);
    await forgetAll(database);

    // Each replica has every message, in an order of its own; an order, a count or a month is never locked in two orders.
    const replicas = [facts, facts.toReversed(), [...facts.slice(90), ...facts.slice(0, 90)]];
    await Promise.all(
      replicas.map(async (share) => {
        for (let start = 0; start < share.length; start += 20) {
          await take(share.slice(start, start + 20));
          await bookWaiting(database);
        }
      }),
    );
    await settle(database);
    expect(await everything(database, creators)).toEqual(expected);
  }, 30_000);
});
