import { partitionInbox } from '@fulfilment/messaging';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Days of the inbox are dropped, not deleted (docs/adr/0049). */
export class InboxByDay implements MigrationInterface {
  readonly name = 'InboxByDay1795478400000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await partitionInbox(runner);
  }

  down(): Promise<void> {
    throw new Error('The inbox stays partitioned: an earlier release reads and writes it as well.');
  }
}
