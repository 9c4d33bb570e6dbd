import type { MigrationInterface, QueryRunner } from 'typeorm';

// One row. The first month only moves forward, so a month that is closed stays closed whatever the setting or a clock says later.
const closing = `
  CREATE TABLE statistics_close (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    first_open_month text NOT NULL CHECK (first_open_month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
    changed_at timestamptz NOT NULL DEFAULT now()
  );
  INSERT INTO statistics_close (first_open_month) VALUES ('0001-01');
`;

export class ClosedMonths1764000000005 implements MigrationInterface {
  readonly name = 'ClosedMonths1764000000005';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(closing);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE statistics_close');
  }
}
