import {
  buildConcurrently,
  buildOnPartitionsConcurrently,
  changeWithLockTimeout,
  createDataSource,
  migrate,
  shardsPurpose,
  statement,
} from '../index.js';
import { randomUUID } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { scratchDatabase, type ScratchDatabase, untilLockWaits } from '../testing/index.js';

const lockFirstDay = statement('test.lock-first-day', 'LOCK TABLE days_1 IN ROW EXCLUSIVE MODE');
const dropSecondDay = statement('test.drop-second-day', 'DROP TABLE days_2');
const insertNumber = statement('test.insert-number', 'INSERT INTO numbers (id) VALUES ($1)');

class Numbers1700000000000 implements MigrationInterface {
  readonly name: string = 'Numbers1700000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE numbers (id uuid PRIMARY KEY)');
  }
  async down(): Promise<void> {}
}

class NumbersWithNote1700000000001 extends Numbers1700000000000 {
  override readonly name = 'NumbersWithNote1700000000001';
  override async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE numbers ADD COLUMN note text');
  }
}

describe('online schema changes', () => {
  let scratch: ScratchDatabase;
  let runner: QueryRunner;
  beforeEach(async () => {
    scratch = await scratchDatabase([Numbers1700000000000]);
    runner = scratch.dataSource.createQueryRunner();
  });
  afterEach(async () => {
    await runner.release();
    await scratch.drop();
  });

  const insert = () => scratch.database.run(insertNumber, [randomUUID()]);
  /** Runs `change` during a transaction that commits once the change has waited and others have written. */
  const duringOpenWrite = async <Result>(change: () => Promise<Result>): Promise<Result> => {
    const writer = await scratch.database.begin();
    await writer.tx.run(insertNumber, [randomUUID()]);
    const changed = change();
    changed.catch(() => undefined);
    try {
      await untilLockWaits(scratch.database);
      // Would block behind a change without a lock timeout.
      for (let written = 0; written < 20; written += 1) await insert();
    } finally {
      await writer.commit();
    }
    return changed;
  };

  it('allow writes while a change waits for an open transaction', async () => {
    await duringOpenWrite(() => changeWithLockTimeout(runner, 'ALTER TABLE numbers ADD COLUMN note text'));
    await expect(runner.query('SELECT note FROM numbers')).resolves.toHaveLength(21);
  });

  it('allow writes while a migration that sets no lock timeout waits for an open transaction', async () => {
    const source = createDataSource({
      url: scratch.url,
      poolSize: 2,
      applicationName: 'test',
      migrations: [Numbers1700000000000, NumbersWithNote1700000000001],
    });
    await source.initialize();
    try {
      await expect(duringOpenWrite(() => migrate(source))).resolves.toEqual(['NumbersWithNote1700000000001']);
    } finally {
      await source.destroy();
    }
  });

  it('build an index during an open transaction, and restore the lock timeout of migrations', async () => {
    await duringOpenWrite(() => buildConcurrently(runner, 'numbers_id', 'INDEX', 'numbers (id)'));
    await expect(runner.query('SHOW lock_timeout')).resolves.toEqual([{ lock_timeout: '1500ms' }]);
    await expect(
      runner.query("SELECT indisvalid FROM pg_index WHERE indexrelid = 'numbers_id'::regclass"),
    ).resolves.toEqual([{ indisvalid: true }]);
  });

  it('build an index although a replica holds its shards in an open transaction', async () => {
    const replica = createDataSource({
      url: scratch.url,
      poolSize: 1,
      applicationName: `test ${shardsPurpose}`,
      migrations: [],
    });
    await replica.initialize();
    const shards = replica.createQueryRunner();
    try {
      await shards.startTransaction('REPEATABLE READ'); // keeps the snapshot of the first statement
      await shards.query('SELECT 1');
      await buildConcurrently(runner, 'numbers_id', 'INDEX', 'numbers (id)');
    } finally {
      await replica.destroy();
    }
  });

  it('build an index on all partitions, also after an interrupted build and for later partitions', async () => {
    await runner.query('CREATE TABLE days (day int, note text) PARTITION BY RANGE (day)');
    for (const day of [1, 2])
      await runner.query(
        `CREATE TABLE days_${day} PARTITION OF days FOR VALUES FROM (${day}) TO (${day + 1})`,
      );
    // An interrupted build leaves the index of one partition, which is not attached.
    await runner.query('CREATE INDEX days_note ON ONLY days (note)');
    await runner.query('CREATE INDEX days_1_days_note ON days_1 (note)');
    // The second call finds a complete index, and changes nothing.
    for (const _attempt of [1, 2]) await buildOnPartitionsConcurrently(runner, 'days_note', 'days', '(note)');
    await runner.query('CREATE TABLE days_3 PARTITION OF days FOR VALUES FROM (3) TO (4)');
    const attached: unknown = await runner.query(
      `SELECT indrelid::regclass::text AS name, indisvalid AS valid FROM pg_inherits JOIN pg_index ON indexrelid = inhrelid
       WHERE inhparent = 'days_note'::regclass ORDER BY 1`,
    );
    expect(attached).toEqual(['days_1', 'days_2', 'days_3'].map((name) => ({ name, valid: true })));
    await expect(
      runner.query("SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'days_note'::regclass"),
    ).resolves.toEqual([{ valid: true }]);
  });

  it('build an index on the other partitions when one is dropped during the build', async () => {
    await runner.query('CREATE TABLE days (day int) PARTITION BY RANGE (day)');
    for (const day of [1, 2, 3])
      await runner.query(
        `CREATE TABLE days_${day} PARTITION OF days FOR VALUES FROM (${day}) TO (${day + 1})`,
      );
    const { built } = await scratch.database.transaction(async (tx) => {
      await tx.run(lockFirstDay); // the build waits for the end of this transaction
      const started = buildOnPartitionsConcurrently(runner, 'days_day', 'days', '(day)');
      started.catch(() => undefined);
      await untilLockWaits(scratch.database);
      await scratch.database.run(dropSecondDay);
      return { built: started };
    });
    await built;
    await expect(
      runner.query(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'days_day'::regclass ORDER BY 1",
      ),
    ).resolves.toEqual([{ name: 'days_1_days_day' }, { name: 'days_3_days_day' }]);
  });
});
