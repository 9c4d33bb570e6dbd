/** The promises of libs/database; see messaging.spec.ts for why they stand here. */
import { statement } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type ScratchDatabase, scratchDatabase } from '../scratch-database.js';

class Numbers1700000000000 implements MigrationInterface {
  name = 'Numbers1700000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE numbers (value bigint NOT NULL)');
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE numbers');
  }
}

const insert = statement('test.insert', 'INSERT INTO numbers VALUES ($1)');
const all = statement('test.all', 'SELECT value FROM numbers ORDER BY value');
const prepared = statement(
  'test.prepared',
  "SELECT count(*) AS count FROM pg_prepared_statements WHERE name = 'test.all'",
);

describe('database', () => {
  let stores: ScratchDatabase;
  beforeAll(async () => {
    stores = await scratchDatabase([Numbers1700000000000]);
  });
  afterAll(() => stores.drop());

  it('reads bigints exactly, and refuses one that JavaScript cannot hold', async () => {
    await stores.database.run(insert, ['9007199254740991']);
    expect(await stores.database.rows(all)).toEqual([{ value: 9007199254740991 }]);
    const tooLarge = statement('test.too-large', "SELECT '9007199254740992'::bigint AS value");
    await expect(stores.database.rows(tooLarge)).rejects.toThrow(RangeError);
  });

  it('prepares a named statement once on a connection', async () => {
    await stores.database.transaction(async (tx) => {
      await tx.rows(all);
      await tx.rows(all);
      expect(await tx.row(prepared)).toEqual({ count: 1 });
    });
  });

  it('commits all or nothing, and calls back only after a commit', async () => {
    const called: string[] = [];
    await expect(
      stores.database.transaction(async (tx) => {
        await tx.run(insert, [1]);
        tx.afterCommit(() => called.push('rolled back'));
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await stores.database.transaction((tx) => {
      tx.afterCommit(() => called.push('committed'));
      return tx.run(insert, [2]);
    });
    expect(called).toEqual(['committed']);
    expect(await stores.database.rows(all)).not.toContainEqual({ value: 1 });
  });

  it('lives on when the server cuts a connection between two statements', async () => {
    await expect(
      stores.database.transaction(async (tx) => {
        await tx.run(insert, [3]);
        await stores.endConnections();
        await new Promise((resolve) => setImmediate(resolve));
        await tx.run(insert, [4]);
      }),
    ).rejects.toThrow();
    expect(await stores.database.rows(all)).not.toContainEqual({ value: 3 });
  });
});
