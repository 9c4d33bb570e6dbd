import type { NumberedPage } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import type { Caller, NumberedPageDto } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { Visibility } from '../visibility/visibility.js';
import type { CreatorView } from './creator.shapes.js';

// Row-level security selects the counts: a member sees only the counts of its organisation, and a global
// admin only the counts of the organisation '', which include all creators.
export const countCreators = statement(
  'creators.count',
  'SELECT COALESCE(sum(creators), 0)::bigint AS total FROM creator_counts',
);

// The counts locate the days of the page and the offset within its first day, so that a deep page reads no
// creators of other days. The list has those of newer days first. $1 is the length of the page, $2 the number
// of creators before it.
export const readCreators = statement(
  'creators.page',
  `WITH days AS MATERIALIZED (
     SELECT registered_on::timestamp AT TIME ZONE 'UTC' AS starts_at, (registered_on + 1)::timestamp AT TIME ZONE 'UTC' AS ends_at,
       creators AS of_day, sum(creators) OVER (ORDER BY registered_on DESC)::bigint - creators AS of_newer_days
     FROM creator_counts WHERE creators > 0
   )
   SELECT c.id AS uuid, c.organisation_id AS org_id, c.test FROM days CROSS JOIN LATERAL (
     SELECT id, organisation_id, registered_at, test FROM creators
     WHERE registered_at >= starts_at AND registered_at < ends_at
     ORDER BY registered_at DESC, id DESC LIMIT $1 OFFSET GREATEST($2 - of_newer_days, 0)
   ) c
   WHERE of_newer_days + of_day > $2 AND of_newer_days < $2 + $1
   ORDER BY c.registered_at DESC, c.id DESC LIMIT $1`,
);

interface CreatorRow {
  readonly uuid: string;
  readonly org_id: string;
  readonly test: boolean;
}

/** Lists the creators that the caller may see, newest first. */
@Injectable()
export class ListCreators {
  constructor(private readonly visibility: Visibility) {}

  run(caller: Caller, { page, per_page }: NumberedPageDto): Promise<NumberedPage<CreatorView>> {
    return this.visibility.readReplicaSnapshot(caller, async (tx) => {
      const total = (await tx.row<{ total: number }>(countCreators))?.total ?? 0;
      const skip = (page - 1) * per_page;
      const rows = skip < total ? await tx.rows<CreatorRow>(readCreators, [per_page, skip]) : [];
      const data = rows.map(({ test, ...creator }) => ({
        ...creator,
        ...(test && { livemode: false as const }),
      }));
      return { data, meta: { page, per_page, total } };
    });
  }
}
