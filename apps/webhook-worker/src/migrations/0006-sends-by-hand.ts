import type { MigrationInterface, QueryRunner } from 'typeorm';

// When an owner had something sent by hand within the last minute (history/sends-by-hand.ts): a row for each subscription and kind.
const table = `
  CREATE TABLE webhook_sends_by_hand (
    subscription_id uuid NOT NULL REFERENCES webhook_subscriptions ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('test', 'retry')),
    asked_at timestamptz[] NOT NULL,
    PRIMARY KEY (subscription_id, kind)
  )
`;

export class SendsByHand1764000000006 implements MigrationInterface {
  readonly name = 'SendsByHand1764000000006';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(table);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE webhook_sends_by_hand');
  }
}
