import { type Database, statement } from '@fulfilment/database';

const parentsOf = statement(
  'test.parents',
  `SELECT DISTINCT parent.relname AS name FROM pg_inherits i JOIN pg_class parent ON parent.oid = i.inhparent
   WHERE i.inhrelid = ANY (SELECT to_regclass(name) FROM unnest($1::text[]) AS name) ORDER BY 1`,
);

/** Returns the indexes of partitioned tables to which the named indexes of partitions are attached. */
export async function parentIndexes(database: Database, names: readonly string[]): Promise<string[]> {
  const rows = await database.rows<{ name: string }>(parentsOf, [names]);
  return rows.map(({ name }) => name);
}
