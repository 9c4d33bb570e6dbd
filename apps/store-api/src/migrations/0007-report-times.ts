import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a product's stock and status were last reported, so that a report that comes late undoes nothing. */
export class ReportTimes1764000000007 implements MigrationInterface {
  name = 'ReportTimes1764000000007';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE products ADD COLUMN stock_set_at timestamptz, ADD COLUMN status_set_at timestamptz;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE products DROP COLUMN stock_set_at, DROP COLUMN status_set_at;');
  }
}
