import { buildConcurrently, changeWithLockTimeout, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { allowReadingOwnRows } from './row-security.js';

/** Requests read the ledger of the creators that they may see, a month at a time. */
export class LedgerLines implements MigrationInterface {
  readonly name = 'LedgerLines1795478400000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildConcurrently(
      runner,
      'ledger_of_month',
      'INDEX',
      'ledger (creator_id, period, settlement_currency, occurred_at, item_id, kind)',
    );
    await dropConcurrently(runner, 'ledger_of_creator'); // the new index begins with its column
    // An interrupted migration is repeated: the policies that it has already created are dropped first.
    await changeWithLockTimeout(
      runner,
      `DROP POLICY IF EXISTS member ON ledger; DROP POLICY IF EXISTS operator ON ledger; ${allowReadingOwnRows('ledger')}`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(
      runner,
      `DROP POLICY IF EXISTS member ON ledger; DROP POLICY IF EXISTS operator ON ledger; ALTER TABLE ledger DISABLE ROW LEVEL SECURITY;
       REVOKE SELECT ON ledger FROM creator_api_member, creator_api_operator`,
    );
    await buildConcurrently(runner, 'ledger_of_creator', 'INDEX', 'ledger (creator_id)');
    await dropConcurrently(runner, 'ledger_of_month');
  }
}
