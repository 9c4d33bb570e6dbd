import { changeWithLockTimeout } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The Ed25519 keys of a subscription, sealed (ADR 65). Null: it has none. */
export class SigningKeyPairs implements MigrationInterface {
  readonly name = 'SigningKeyPairs1795744800000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(
      runner,
      `ALTER TABLE webhook_subscriptions
         ADD COLUMN IF NOT EXISTS signing_key bytea,
         ADD COLUMN IF NOT EXISTS previous_signing_key bytea,
         ADD COLUMN IF NOT EXISTS previous_signing_key_until timestamptz`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(
      runner,
      `ALTER TABLE webhook_subscriptions DROP COLUMN IF EXISTS signing_key,
         DROP COLUMN IF EXISTS previous_signing_key, DROP COLUMN IF EXISTS previous_signing_key_until`,
    );
  }
}
