import type { Database } from '@fulfilment/database';
import { testStatement } from './test-statement.fixture.js';

/** Makes PostgreSQL reject new rows of a table while the work runs. @param condition on the row `NEW` */
export async function rejectRows(
  database: Database,
  { table, condition }: { readonly table: string; readonly condition: string },
  work: () => Promise<void>,
): Promise<void> {
  const run = (text: string) => database.run(testStatement(text));
  await run(`CREATE FUNCTION reject_row() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'rejected'; END $$`);
  await run(`CREATE TRIGGER reject_row BEFORE INSERT ON ${table} FOR EACH ROW
    WHEN (${condition}) EXECUTE FUNCTION reject_row()`);
  try {
    await work();
  } finally {
    await run('DROP FUNCTION reject_row CASCADE');
  }
}
