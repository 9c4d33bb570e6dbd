import { buildConcurrently, changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

// What a subscription's owner was told since its receiver began to fail (subscriptions/tell-owners.ts).
export class OwnersTold1764000000004 implements MigrationInterface {
  readonly name = 'OwnersTold1764000000004';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(
      runner,
      `ALTER TABLE webhook_subscriptions
         ADD COLUMN IF NOT EXISTS told_delivery_failed boolean NOT NULL DEFAULT false,
         ADD COLUMN IF NOT EXISTS told_to_be_disabled boolean NOT NULL DEFAULT false`,
    );
    await buildConcurrently(
      runner,
      'webhook_subscriptions_failing',
      'INDEX',
      'webhook_subscriptions (failing_since) WHERE failing_since IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX webhook_subscriptions_failing;
      ALTER TABLE webhook_subscriptions DROP COLUMN told_delivery_failed, DROP COLUMN told_to_be_disabled;
    `);
  }
}
