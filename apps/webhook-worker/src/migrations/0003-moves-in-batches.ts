import type { MigrationInterface, QueryRunner } from 'typeorm';

// What is to be done with many deliveries, until all of it is (moves/move-deliveries.ts).
const tables = `
  -- Subscriptions whose deliveries may not stand as their status says.
  CREATE TABLE webhook_alignments (
    subscription_id uuid PRIMARY KEY,
    due_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE webhook_recoveries (
    id uuid PRIMARY KEY,
    subscription_id uuid NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    statuses text[] NOT NULL,
    created_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX webhook_recoveries_subscription ON webhook_recoveries (subscription_id);
`;
const indexes = `
  CREATE INDEX webhook_deliveries_failed
    ON webhook_deliveries (subscription_id, created_at) WHERE status = 'failed' AND NOT test;
  CREATE INDEX webhook_deliveries_longest_held ON webhook_deliveries (created_at) WHERE status = 'held';
`;

export class MovesInBatches1764000000003 implements MigrationInterface {
  readonly name = 'MovesInBatches1764000000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(tables);
    await runner.query(indexes);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX webhook_deliveries_failed, webhook_deliveries_longest_held');
    await runner.query('DROP TABLE webhook_recoveries, webhook_alignments');
  }
}
