import type { MigrationInterface, QueryRunner } from 'typeorm';

// A key that began with the day invited plans that read a whole one: a statement is told the days it is about. The key serves what is looked up by
// the id alone, too. In the partition of days without one of their own, rows are found by their day.
const dayLast = `
  ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_pkey, ADD PRIMARY KEY (id, day);
  ALTER TABLE webhook_events DROP CONSTRAINT webhook_events_pkey, ADD PRIMARY KEY (id, api_version, day);
  DROP INDEX webhook_deliveries_id;
  CREATE INDEX webhook_deliveries_other_days_day ON webhook_deliveries_other_days (day);
  CREATE INDEX webhook_events_other_days_day ON webhook_events_other_days (day);
`;
const dayFirst = `
  DROP INDEX webhook_deliveries_other_days_day, webhook_events_other_days_day;
  CREATE INDEX webhook_deliveries_id ON webhook_deliveries (id);
  ALTER TABLE webhook_events DROP CONSTRAINT webhook_events_pkey, ADD PRIMARY KEY (day, id, api_version);
  ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_pkey, ADD PRIMARY KEY (day, id);
`;

export class KeysByDayLast1764000000005 implements MigrationInterface {
  readonly name = 'KeysByDayLast1764000000005';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(dayLast);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(dayFirst);
  }
}
