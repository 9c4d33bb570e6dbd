import type { MigrationInterface, QueryRunner } from 'typeorm';

// Where a retry by hand found a delivery, and where the delivery goes back to when that one attempt fails. Null without one.
const columns = [
  'status text',
  'failure_reason text',
  'trigger text',
  'next_attempt_at timestamptz',
  'completed_at timestamptz',
];

export class RetriesByHand1764000000002 implements MigrationInterface {
  readonly name = 'RetriesByHand1764000000002';

  async up(runner: QueryRunner): Promise<void> {
    const added = columns.map((column) => `ADD COLUMN prior_${column}`);
    await runner.query(`ALTER TABLE webhook_deliveries ${added.join(', ')}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    const dropped = columns.map((column) => `DROP COLUMN prior_${column.split(' ')[0]}`);
    await runner.query(`ALTER TABLE webhook_deliveries ${dropped.join(', ')}`);
  }
}
