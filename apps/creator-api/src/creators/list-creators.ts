import type { NumberedPage } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import type { Caller, NumberedPageDto } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { Visibility } from '../visibility/visibility.js';
import type { CreatorView } from './creator.shapes.js';

const page = statement(
  'creators.page',
  `SELECT id AS uuid, organisation_id AS org_id FROM creators
   ORDER BY registered_at DESC, id DESC LIMIT $1 OFFSET $2`,
);
const count = statement('creators.count', 'SELECT count(*) AS total FROM creators');

/** The creators the caller sees, the newest first. */
@Injectable()
export class ListCreators {
  constructor(private readonly visibility: Visibility) {}

  run(who: Caller, { page: number, per_page }: NumberedPageDto): Promise<NumberedPage<CreatorView>> {
    return this.visibility.reading(who, async (tx) => {
      const data = await tx.rows<CreatorView>(page, [per_page, (number - 1) * per_page]);
      const counted = await tx.row<{ total: number }>(count);
      return { data, meta: { page: number, per_page, total: counted?.total ?? 0 } };
    });
  }
}
