import type { MigrationInterface, QueryRunner } from 'typeorm';
import { statement } from './index.js';

/** A table for tests. TypeORM reads the time of a migration from its name. */
export class Numbers1700000000000 implements MigrationInterface {
  name = 'Numbers1700000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE numbers (value bigint NOT NULL)');
  }
  async down(): Promise<void> {}
}

export const insertNumber = statement('test.insert-number', 'INSERT INTO numbers VALUES ($1)');
export const readNumbers = statement('test.read-numbers', 'SELECT value FROM numbers ORDER BY value');
export const readNumber = statement('test.read-number', 'SELECT value FROM numbers WHERE value = $1');
/** Returns 1 if `readNumbers` is prepared on the connection, else 0. */
export const countPrepared = statement(
  'test.count-prepared',
  "SELECT count(*) AS count FROM pg_prepared_statements WHERE name = 'test.read-numbers'",
);
