import { ask, buildConcurrently, changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';

// A subscription is worth as much as the access it was made by (subscriptions/ended-access.ts).
const columns = `
  ALTER TABLE webhook_subscriptions
    ADD COLUMN authorized_at timestamptz NOT NULL DEFAULT date_trunc('second', now()),
    ADD COLUMN deleted_reason text
`;
const reasons = `
  ALTER TABLE webhook_subscriptions DROP CONSTRAINT IF EXISTS webhook_subscriptions_deleted_reason_check,
    ADD CONSTRAINT webhook_subscriptions_deleted_reason_check
      CHECK (deleted_reason IN ('owner', 'operator', 'client_deleted', 'client_disconnected')) NOT VALID`;
const hasColumns = `
  SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = $1::regclass AND attname = 'authorized_at') AS answer`;
// Those of before are taken to have been authorized when they were made. Old workers count with these rows meanwhile: a batch waits for none of
// them, so no deadlock comes of it.
const toSet = "authorized_at <> date_trunc('second', created_at)";
const setSome = `
  UPDATE webhook_subscriptions SET authorized_at = date_trunc('second', created_at)
  WHERE id = ANY(ARRAY(SELECT id FROM webhook_subscriptions WHERE ${toSet} LIMIT 1000 FOR UPDATE SKIP LOCKED))`;
const pauseMs = 10;
const someLeft = `SELECT EXISTS (SELECT FROM webhook_subscriptions WHERE ${toSet}) AS answer`;
const endedAccess = `
  CREATE TABLE IF NOT EXISTS webhook_ended_access (
    client_id text NOT NULL,
    creator_id uuid, -- null: to every creator
    ended_at timestamptz NOT NULL,
    UNIQUE NULLS NOT DISTINCT (client_id, creator_id)
  );
`;

/** As that of the keys (0005), beside old workers; each step may be interrupted and run again. */
export class EndedAccess1764000000008 implements MigrationInterface {
  readonly name = 'EndedAccess1764000000008';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    if (!(await ask(runner, hasColumns, ['webhook_subscriptions']))) await changeBriefly(runner, columns);
    await changeBriefly(runner, reasons);
    await runner.query(
      'ALTER TABLE webhook_subscriptions VALIDATE CONSTRAINT webhook_subscriptions_deleted_reason_check',
    );
    while (await ask(runner, someLeft)) {
      await runner.query(setSome);
      await delay(pauseMs);
    }
    await buildConcurrently(
      runner,
      'webhook_subscriptions_client',
      'INDEX',
      'webhook_subscriptions (client_id, id) WHERE deleted_at IS NULL',
    );
    await runner.query(endedAccess);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE IF EXISTS webhook_ended_access');
    await changeBriefly(runner, 'DROP INDEX IF EXISTS webhook_subscriptions_client');
    await changeBriefly(
      runner,
      'ALTER TABLE webhook_subscriptions DROP COLUMN IF EXISTS authorized_at, DROP COLUMN IF EXISTS deleted_reason',
    );
  }
}
