import type { MigrationInterface, QueryRunner } from 'typeorm';

// A subscription is worth as much as the access it was made by (subscriptions/ended-access.ts).
const columns = `
  ALTER TABLE webhook_subscriptions
    ADD COLUMN authorized_at timestamptz NOT NULL DEFAULT date_trunc('second', now()),
    ADD COLUMN deleted_reason text
      CHECK (deleted_reason IN ('owner', 'operator', 'client_deleted', 'client_disconnected'));
  UPDATE webhook_subscriptions SET authorized_at = date_trunc('second', created_at);
  CREATE INDEX webhook_subscriptions_client ON webhook_subscriptions (client_id, id) WHERE deleted_at IS NULL;
`;
const endedAccess = `
  CREATE TABLE webhook_ended_access (
    client_id text NOT NULL,
    creator_id uuid, -- null: to every creator
    ended_at timestamptz NOT NULL,
    UNIQUE NULLS NOT DISTINCT (client_id, creator_id)
  );
`;

export class EndedAccess1764000000008 implements MigrationInterface {
  readonly name = 'EndedAccess1764000000008';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(columns);
    await runner.query(endedAccess);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE webhook_ended_access;
      DROP INDEX webhook_subscriptions_client;
      ALTER TABLE webhook_subscriptions DROP COLUMN authorized_at, DROP COLUMN deleted_reason;
    `);
  }
}
