import { buildForPartitions, changeBriefly, type PartitionedIndex } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { withPartitionsKept } from './with-partitions-kept.js';

const index = (name: string, filters: string): PartitionedIndex => ({
  table: 'webhook_deliveries',
  name: `webhook_deliveries_${name}`,
  suffix: `_${name}`,
  kind: 'INDEX',
  columns: `subscription_id, ${filters}created_at DESC, id DESC`,
});
const indexes: readonly PartitionedIndex[] = [
  index('by_status', 'status, '),
  index('by_event', 'event, status, '),
  { ...index('tests', ''), condition: 'test' },
];

/** The filtered lists of the delivery history read their page from an index, in its order (history/page-of-deliveries.ts). */
export class HistoryByFilters1764000000011 implements MigrationInterface {
  readonly name = 'HistoryByFilters1764000000011';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await withPartitionsKept(runner, async () => {
      for (const one of indexes) await buildForPartitions(runner, one);
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of indexes) await changeBriefly(runner, `DROP INDEX IF EXISTS ${name}`);
  }
}
