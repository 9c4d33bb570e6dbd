import { findBlockingMigrations, scratchDatabase } from '@fulfilment/database/testing';
import { migrations } from './index.js';

describe('the migrations', () => {
  it('do not block concurrent reads and writes for long', async () => {
    expect(await findBlockingMigrations(migrations)).toEqual([]);
  });

  // Each runs in no transaction, so after an interruption it is repeated from its first step.
  it('after the baseline can be applied again and reverted twice', async () => {
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
