import { buildConcurrently, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether anybody else has an app connected to a creator is asked when somebody disconnects it: an app may have many thousands of consents. */
export class ConsentsOfCreators implements MigrationInterface {
  readonly name = 'ConsentsOfCreators1767225605000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildConcurrently(runner, 'consents_connection', 'INDEX', 'consents (client_id, creator_id)');
    await dropConcurrently(runner, 'consents_client');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX consents_client ON consents (client_id);
      DROP INDEX consents_connection;
    `);
  }
}
