import { buildForPartitions, type PartitionedIndex } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { withPartitionsKept } from './with-partitions-kept.js';

// What is to be done with many deliveries, until all of it is (moves/move-deliveries.ts).
const tables = `
  -- Subscriptions whose deliveries may not stand as their status says.
  CREATE TABLE IF NOT EXISTS webhook_alignments (
    subscription_id uuid PRIMARY KEY,
    due_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE IF NOT EXISTS webhook_recoveries (
    id uuid PRIMARY KEY,
    subscription_id uuid NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    statuses text[] NOT NULL,
    created_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX IF NOT EXISTS webhook_recoveries_subscription ON webhook_recoveries (subscription_id);
`;
const indexes: readonly PartitionedIndex[] = [
  {
    table: 'webhook_deliveries',
    name: 'webhook_deliveries_failed',
    suffix: '_subscription_id_created_at_idx1',
    kind: 'INDEX',
    columns: 'subscription_id, created_at',
    condition: "status = 'failed' AND NOT test",
  },
  {
    table: 'webhook_deliveries',
    name: 'webhook_deliveries_longest_held',
    suffix: '_created_at_idx',
    kind: 'INDEX',
    columns: 'created_at',
    condition: "status = 'held'",
  },
];

export class MovesInBatches1764000000003 implements MigrationInterface {
  readonly name = 'MovesInBatches1764000000003';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(tables);
    await withPartitionsKept(runner, async () => {
      for (const index of indexes) await buildForPartitions(runner, index);
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX webhook_deliveries_failed, webhook_deliveries_longest_held');
    await runner.query('DROP TABLE webhook_recoveries, webhook_alignments');
  }
}
