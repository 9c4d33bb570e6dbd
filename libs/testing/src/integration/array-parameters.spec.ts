/** Tests of array parameters in libs/database; messaging.spec.ts explains why they are here. */
import { statement } from '@fulfilment/database';
import fc from 'fast-check';
import { type ScratchDatabase, scratchDatabase } from '../scratch-database.js';

let stores: ScratchDatabase;
beforeAll(async () => {
  stores = await scratchDatabase([]);
});
afterAll(() => stores.drop());

it('stores arrays with any elements unchanged', async () => {
  const kept = statement(
    'test.arrays',
    'SELECT $1::text[] AS texts, $2::bytea[] AS bytes, $3::float8[] AS numbers, $4::boolean[] AS flags, $5::timestamptz[] AS times',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }).map((given) => given.toWellFormed().replaceAll('\0', '')),
    fc.constantFrom('null', 'NULL', '', ' ', '{}', 'a,b', '"', '\\', '\\x00', 'a\nb', '\u00a0'),
  );
  const listOf = <Item>(item: fc.Arbitrary<Item>) => fc.array(fc.option(item), { maxLength: 5 });
  const arrays = fc.record({
    texts: listOf(text),
    bytes: listOf(fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes))),
    numbers: listOf(fc.double().map((number) => number + 0)),
    flags: listOf(fc.boolean()),
    times: listOf(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })),
  });
  await fc.assert(
    fc.asyncProperty(arrays, async (given) => {
      const { texts, bytes, numbers, flags, times } = given;
      expect(await stores.database.row(kept, [texts, bytes, numbers, flags, times])).toEqual(given);
    }),
    { numRuns: 200 },
  );
});
