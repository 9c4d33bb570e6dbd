import { migrationFaults, scratchDatabase } from '@fulfilment/database/testing';
import { migrations } from './index.js';

describe('the migrations', () => {
  it('block no concurrent read or write for long', async () => {
    expect(await migrationFaults(migrations)).toEqual([]);
  });

  it('after the baseline, which run in no transaction, can be repeated and reverted repeatedly', async () => {
    const scratch = await scratchDatabase(migrations);
    const runner = scratch.dataSource.createQueryRunner();
    const [, ...later] = migrations.map((Migration) => new Migration());
    try {
      for (const migration of later.toReversed()) {
        await migration.up(runner);
        await migration.down(runner);
        await migration.down(runner);
      }
    } finally {
      await runner.release();
      await scratch.drop();
    }
  });
});
