import { buildConcurrently, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An index for each of the two statements of orders/take-pending.ts, so that neither reads the orders of the other. `orders_to_resume` stays for
 * replicas of the release before this one; a later release, which such replicas no longer run beside, drops it.
 */
export class OrdersToResume1764000000010 implements MigrationInterface {
  readonly name = 'OrdersToResume1764000000010';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const due = 'orders (resume_at) WHERE resume_at IS NOT NULL';
    await buildConcurrently(runner, 'orders_to_resume_first', 'INDEX', `${due} AND resume_tries = 0`);
    await buildConcurrently(runner, 'orders_to_resume_again', 'INDEX', `${due} AND resume_tries > 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropConcurrently(runner, 'orders_to_resume_again');
    await dropConcurrently(runner, 'orders_to_resume_first');
  }
}
