import { changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const allowAnyName = `
  ALTER TABLE creators DROP CONSTRAINT IF EXISTS creators_payment_method_check,
    ADD CONSTRAINT creators_payment_method_check CHECK (payment_method ~ '^pm_[A-Za-z0-9_]{1,250}$') NOT VALID`;

/** A payment method may be any of the payment provider's, not the sandbox's alone. */
export class PaymentMethods implements MigrationInterface {
  readonly name = 'PaymentMethods1767225604000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, allowAnyName);
    await runner.query('ALTER TABLE creators VALIDATE CONSTRAINT creators_payment_method_check');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE creators DROP CONSTRAINT creators_payment_method_check,
        ADD CONSTRAINT creators_payment_method_check
        CHECK (payment_method IN ('pm_ok', 'pm_declined', 'pm_timeout')) NOT VALID;
    `);
  }
}
