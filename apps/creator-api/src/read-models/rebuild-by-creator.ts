import { nilUuid } from '@fulfilment/contracts';
import { type Database, keysetPages, type Statement, statement } from '@fulfilment/database';

const creatorsPerSlice = 100;

// Two concurrent rebuilds would both add the same correction.
const lockRebuild = statement('rebuild.lock', 'SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))');

export interface RebuildResult {
  /** Number of sums after the rebuild. */
  readonly rows: number;
  /** Number of sums that were wrong and are now corrected. */
  readonly differed: number;
}

export interface RebuildPlan {
  /** Rebuilds with the same name correct one slice of the creators at a time, under a lock. */
  readonly name: string;
  /** Returns the next `creator_id`s after $1, at most $2 of them. */
  readonly creators: Statement;
  /** Corrects the sums of the creators in $1 and returns `RebuildResult`. */
  readonly correct: Statement;
  /** Deletes the sums of the creators in $1 that are zero and have no source rows. */
  readonly deleteEmpty: Statement;
}

/** SQL: the smallest `creator_id` above a value in any of the tables, found by index. */
function nextCreatorSql(tables: readonly string[], above: string): string {
  const next = tables.map(
    (table) => `(SELECT creator_id FROM ${table} WHERE creator_id > ${above} ORDER BY creator_id LIMIT 1)`,
  );
  return `LEAST(${next.join(', ')})`;
}

/** Returns the statement of `RebuildPlan.creators` for the creators with rows in any of the tables. */
export function creatorsIn(name: string, tables: readonly string[]): Statement {
  return statement(
    name,
    `WITH RECURSIVE creators AS (
       SELECT 1 AS position, ${nextCreatorSql(tables, '$1::uuid')} AS creator_id
       UNION ALL
       SELECT position + 1, ${nextCreatorSql(tables, 'c.creator_id')} FROM creators c
       WHERE c.creator_id IS NOT NULL AND c.position < $2::int
     )
     SELECT creator_id FROM creators WHERE creator_id IS NOT NULL ORDER BY creator_id`,
  );
}

/**
 * Corrects the sums of each plan, a slice of creators at a time. Safe during concurrent writes: each
 * statement compares the rows and their sums in one snapshot and adds the difference to the current sum, so a
 * concurrent addition is not lost. Until its commit, a slice blocks only writers of the sums it corrects.
 */
export async function rebuildByCreator(
  database: Database,
  ...plans: readonly RebuildPlan[]
): Promise<RebuildResult> {
  let rows = 0;
  let differed = 0;
  for (const plan of plans) {
    const slices = keysetPages<{ creator_id: string }>(creatorsPerSlice, (last) =>
      database.rows(plan.creators, [last?.creator_id ?? nilUuid, creatorsPerSlice]),
    );
    for await (const slice of slices) {
      const creators = slice.map((row) => row.creator_id);
      const corrected = await correctSums(database, plan, creators);
      rows += corrected.rows;
      differed += corrected.differed;
    }
  }
  return { rows, differed };
}

function correctSums(
  database: Database,
  plan: RebuildPlan,
  creators: readonly string[],
): Promise<RebuildResult> {
  return database.transaction(async (tx) => {
    await tx.run(lockRebuild, [plan.name]);
    const corrected = await tx.row<RebuildResult>(plan.correct, [creators]);
    if (corrected === undefined) throw new Error('PostgreSQL returned no result of a rebuild.');
    if (corrected.differed > 0) await tx.run(plan.deleteEmpty, [creators]);
    return corrected;
  });
}
