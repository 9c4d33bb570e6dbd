import { nilUuid } from '@fulfilment/contracts';
import { type Database, type Statement, statement } from '@fulfilment/database';

const creatorsPerSlice = 100;

// Two concurrent rebuilds would both add the same correction.
const lockRebuild = statement('rebuild.lock', 'SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))');

export interface Rebuilt {
  /** Number of sums after the rebuild. */
  readonly rows: number;
  /** Number of sums that were wrong and are now corrected. */
  readonly differed: number;
}

export interface RebuildPlan {
  /** Slices of rebuilds with the same name are corrected one after another. */
  readonly name: string;
  /** Returns the next `creator_id`s after $1, at most $2 of them. */
  readonly creators: Statement;
  /** Corrects the sums of the creators in $1 and returns `Rebuilt`. */
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
 * Corrects sums, a slice of creators at a time. Safe during concurrent writes: each statement compares the
 * rows and their sums in one snapshot and adds the difference to the current sum, so a concurrent addition is
 * not lost. Until it commits, a slice blocks only writers of the sums that it corrects.
 */
export async function rebuildByCreator(database: Database, plan: RebuildPlan): Promise<Rebuilt> {
  let rows = 0;
  let differed = 0;
  let last: string = nilUuid;
  for (;;) {
    const nextRows = await database.rows<{ creator_id: string }>(plan.creators, [last, creatorsPerSlice]);
    const creators = nextRows.map((row) => row.creator_id);
    const corrected = await database.transaction(async (tx) => {
      await tx.run(lockRebuild, [plan.name]);
      const slice = await tx.row<Rebuilt>(plan.correct, [creators]);
      if (slice !== undefined && slice.differed > 0) await tx.run(plan.deleteEmpty, [creators]);
      return slice;
    });
    rows += corrected?.rows ?? 0;
    differed += corrected?.differed ?? 0;
    last = creators.at(-1) ?? last;
    if (creators.length < creatorsPerSlice) return { rows, differed };
  }
}
