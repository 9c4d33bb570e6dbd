import { buildConcurrently, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An index by which the messages about a creator find its connected apps. */
export class ConsentsOfCreator implements MigrationInterface {
  readonly name = 'ConsentsOfCreator1795824000000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildConcurrently(runner, 'consents_of_creator', 'INDEX', 'consents (creator_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropConcurrently(runner, 'consents_of_creator');
  }
}
