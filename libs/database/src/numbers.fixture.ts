import type { MigrationInterface, QueryRunner } from 'typeorm';
import { statement } from './index.js';

export class Numbers1700000000000 implements MigrationInterface {
  name = 'Numbers1700000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE numbers (value bigint NOT NULL)');
  }
  async down(): Promise<void> {}
}

export const insertNumber = statement('test.insert', 'INSERT INTO numbers VALUES ($1)');
export const readNumbers = statement('test.all', 'SELECT value FROM numbers ORDER BY value');
export const readNumber = statement('test.written', 'SELECT value FROM numbers WHERE value = $1');
/** Counts how often `readNumbers` is prepared on the connection. */
export const countPrepared = statement(
  'test.prepared',
  "SELECT count(*) AS count FROM pg_prepared_statements WHERE name = 'test.all'",
);
