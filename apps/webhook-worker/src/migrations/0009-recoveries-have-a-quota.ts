import { changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const change = (kinds: string): string => `
  ALTER TABLE webhook_sends_by_hand DROP CONSTRAINT IF EXISTS webhook_sends_by_hand_kind_check,
    ADD CONSTRAINT webhook_sends_by_hand_kind_check CHECK (kind IN (${kinds})) NOT VALID`;
const validate = 'ALTER TABLE webhook_sends_by_hand VALIDATE CONSTRAINT webhook_sends_by_hand_kind_check';

/** Recoveries are counted like tests and retries (history/sends-by-hand.ts). The table has few rows: one per subscription and kind. */
export class RecoveriesHaveAQuota1764000000009 implements MigrationInterface {
  readonly name = 'RecoveriesHaveAQuota1764000000009';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, change("'test', 'retry', 'recover'"));
    await runner.query(validate);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("DELETE FROM webhook_sends_by_hand WHERE kind = 'recover'");
    await changeBriefly(runner, change("'test', 'retry'"));
    await runner.query(validate);
  }
}
