import type { MigrationInterface, QueryRunner } from 'typeorm';
import { partitionInbox } from '../index.js';

/** The migration of the services, after `createMessagingTables`. */
export class InboxByDay1700000000001 implements MigrationInterface {
  name = 'InboxByDay1700000000001';
  transaction = false;
  async up(runner: QueryRunner): Promise<void> {
    await partitionInbox(runner);
  }
  async down(): Promise<void> {
    // Not used here.
  }
}
