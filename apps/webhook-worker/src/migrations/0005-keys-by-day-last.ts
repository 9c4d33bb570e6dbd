import {
  buildConcurrently,
  buildForPartitions,
  changeBriefly,
  type PartitionedIndex,
} from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { withPartitionsKept } from './with-partitions-kept.js';

interface Key extends Pick<PartitionedIndex, 'table'> {
  readonly dayLast: string;
  readonly dayFirst: string;
}

// A key that began with the day invited plans that read a whole one: a statement is told the days it is about. The key serves what is looked up by
// the id alone, too. In the partition of days without one of their own, rows are found by their day.
const keys: readonly Key[] = [
  { table: 'webhook_deliveries', dayLast: 'id, day', dayFirst: 'day, id' },
  { table: 'webhook_events', dayLast: 'id, api_version, day', dayFirst: 'day, id, api_version' },
];
const byId: PartitionedIndex = {
  table: 'webhook_deliveries',
  name: 'webhook_deliveries_id',
  suffix: '_id_idx',
  kind: 'INDEX',
  columns: 'id',
};

// Unique and NOT NULL is all that is asked of a key, and an index that is built beside deliveries under way cannot become the PRIMARY KEY of a
// partitioned table without a time in which there is none (ADD CONSTRAINT USING INDEX is refused for one).
function unique({ table, dayLast: columns }: Key): PartitionedIndex {
  const suffix = `_${columns.replaceAll(', ', '_')}_idx`;
  return { table, name: `${table}${suffix}`, suffix, kind: 'UNIQUE INDEX', columns };
}

function primary({ table, dayFirst: columns }: Key): PartitionedIndex {
  return { table, name: `${table}_pkey`, suffix: '_pkey', kind: 'PRIMARY KEY', columns };
}

/** Old workers deliver all the while: nothing is built under a lock, and none is waited for long. Each step may be interrupted and run again. */
export class KeysByDayLast1764000000005 implements MigrationInterface {
  readonly name = 'KeysByDayLast1764000000005';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await withPartitionsKept(runner, async () => {
      for (const key of keys) {
        const { table } = key;
        await buildConcurrently(runner, `${table}_other_days_day`, 'INDEX', `${table}_other_days (day)`);
        await buildForPartitions(runner, unique(key));
        await changeBriefly(runner, `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${table}_pkey`);
      }
      await changeBriefly(runner, `DROP INDEX IF EXISTS ${byId.name}`);
    });
  }

  /** Not in a transaction either: `undoLastMigration({ transaction: 'none' })`. */
  async down(runner: QueryRunner): Promise<void> {
    await withPartitionsKept(runner, async () => {
      await buildForPartitions(runner, byId);
      for (const key of keys) {
        await buildForPartitions(runner, primary(key));
        await changeBriefly(runner, `DROP INDEX IF EXISTS ${unique(key).name}`);
        await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${key.table}_other_days_day`);
      }
    });
  }
}
