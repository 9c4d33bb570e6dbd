import { ask, buildConcurrently, changeBriefly, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

// Kept by triggers, so that replicas of every version count. The organisation '' is all of them together.
const count = (changes: string): string => `
  INSERT INTO creator_counts AS c (organisation_id, registered_on, creators)
  SELECT o.organisation_id, (r.registered_at AT TIME ZONE 'UTC')::date, sum(r.change)
  FROM (${changes}) r CROSS JOIN LATERAL (VALUES (''), (r.organisation_id)) AS o(organisation_id)
  GROUP BY 1, 2 HAVING sum(r.change) <> 0 ORDER BY 1, 2
  ON CONFLICT (organisation_id, registered_on) DO UPDATE SET creators = c.creators + excluded.creators;`;
const one = (table: string, change: 1 | -1): string =>
  `SELECT organisation_id, registered_at, ${change} AS change FROM ${table}`;
const trigger = (event: string, tables: string, body: string): string => `
  CREATE FUNCTION count_creators_${event}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NULL; END $$;
  CREATE TRIGGER count_${event} AFTER ${event.toUpperCase()} ON creators ${tables}
    FOR EACH STATEMENT EXECUTE FUNCTION count_creators_${event}();`;

const counts = `
  CREATE TABLE creator_counts (
    organisation_id text NOT NULL,
    registered_on date NOT NULL,
    creators bigint NOT NULL,
    PRIMARY KEY (organisation_id, registered_on)
  ) WITH (fillfactor = 80);
  ALTER TABLE creator_counts ENABLE ROW LEVEL SECURITY;
  GRANT SELECT ON creator_counts TO creator_api_member, creator_api_operator;
  CREATE POLICY member ON creator_counts TO creator_api_member
    USING (organisation_id = NULLIF(current_setting('suite.organisation_id', true), ''));
  CREATE POLICY operator ON creator_counts TO creator_api_operator USING (organisation_id = '');
  ${trigger('insert', 'REFERENCING NEW TABLE AS added', count(one('added', 1)))}
  ${trigger(
    'update',
    'REFERENCING NEW TABLE AS added OLD TABLE AS removed',
    count(`${one('added', 1)} UNION ALL ${one('removed', -1)}`),
  )}
  ${trigger('delete', 'REFERENCING OLD TABLE AS removed', count(one('removed', -1)))}
  ${trigger('truncate', '', 'DELETE FROM creator_counts;')}
  ${count(one('creators', 1))}
`;

const withoutCounts = `
  DROP TABLE IF EXISTS creator_counts;
  ${['insert', 'update', 'delete', 'truncate']
    .map((event) => `DROP FUNCTION IF EXISTS count_creators_${event}() CASCADE;`)
    .join(' ')}`;
const countsExist = `SELECT to_regclass('creator_counts') IS NOT NULL AS answer`;

const tables = [
  'orders',
  'order_items',
  'order_counts',
  'monthly_statistics',
  'editions',
  'ordered_releases',
  'track_uploads',
];
// The creator of each row is found by its key. With IN, PostgreSQL would read all creators of the organisation for every statement, and
// it may turn EXISTS into the same.
const byKey = (table: string): string =>
  `ALTER POLICY member ON ${table} USING ((SELECT true FROM creators c WHERE c.id = ${table}.creator_id))`;
const bySet = (table: string): string =>
  `ALTER POLICY member ON ${table} USING (creator_id IN (SELECT id FROM creators))`;

/** What a list of creators costs depends on its page, and what a row's visibility costs on the row. */
export class CountedCreators1764000000007 implements MigrationInterface {
  readonly name = 'CountedCreators1764000000007';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // Its steps are transactions of their own: a repeated run finds what an interrupted one committed.
    if (!(await ask(runner, countsExist))) await changeBriefly(runner, counts);
    for (const table of tables) await changeBriefly(runner, byKey(table));
    // For rebuilds, which sum some creators at a time.
    await buildConcurrently(runner, 'ledger_of_creator', 'INDEX', 'ledger (creator_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropConcurrently(runner, 'ledger_of_creator');
    for (const table of tables) await changeBriefly(runner, bySet(table));
    await changeBriefly(runner, withoutCounts);
  }
}
