import { storeUrl } from '@fulfilment/testing';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { scratchDatabase } from './scratch-database.js';
import { withClient } from './with-client.js';

let database: unknown;

class Failing implements MigrationInterface {
  readonly name = 'Failing1795392000000';

  async up(runner: QueryRunner): Promise<void> {
    [{ database }] = await runner.query('SELECT current_database() AS database');
    throw new Error('The migration failed.');
  }

  async down(): Promise<void> {}
}

describe('scratchDatabase', () => {
  it('drops the template that it migrates when a migration fails', async () => {
    await expect(scratchDatabase([Failing])).rejects.toThrow('The migration failed.');
    const { rowCount } = await withClient(storeUrl('TEST_POSTGRES_URL'), (client) =>
      client.query('SELECT FROM pg_database WHERE datname = $1', [database]),
    );
    expect([typeof database, rowCount]).toEqual(['string', 0]);
  });
});
