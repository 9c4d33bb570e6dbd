import { type Statement, statement } from '@fulfilment/database';
import type { CursorKey } from '@fulfilment/http-service';
import type { ListOrdersDto } from './list-orders.dto.js';
import type { OrderSummaryRow } from './order.view.js';

const valueFilters = ['status', 'platform', 'store_id', 'external_order_id'] as const;
const timeFilters = ['created_after', 'created_before', 'updated_since'] as const;

/** An order in a list, with its position there in microseconds since 1970. */
export interface OrderPageRow extends OrderSummaryRow {
  readonly position_micros: number;
}

/** What decides the statement of a page. */
export interface PageShape {
  readonly filters: readonly (typeof valueFilters)[number][];
  readonly createdBounds?: boolean;
  /** In the order of `updated_at`, the oldest change first; otherwise the newest order first. */
  readonly changes?: boolean;
  readonly afterCursor?: boolean;
}

/** Returns what a cursor of the list is bound to. Without a time, it is what it was before times existed. */
export function cursorContext(
  creatorId: string | undefined,
  query: ListOrdersDto,
): readonly (string | undefined)[] {
  const times = timeFilters.map((name) => query[name]);
  return [
    'orders',
    creatorId,
    ...valueFilters.map((name) => query[name]),
    ...(times.some((time) => time !== undefined) ? times : []),
  ];
}

/** Returns the statement of a page with its values. It reads one row more than the page has. */
export function pageOf(
  creatorId: string | undefined,
  query: ListOrdersDto,
  after: CursorKey | undefined,
): { readonly statement: Statement; readonly values: readonly unknown[] } {
  const { created_after, created_before, updated_since } = query;
  const filters = valueFilters.filter((name) => query[name] !== undefined);
  const createdBounds = created_after !== undefined || created_before !== undefined;
  const changes = updated_since !== undefined;
  return {
    statement: pageStatement({ filters, createdBounds, changes, afterCursor: after !== undefined }),
    values: [
      creatorId,
      query.limit + 1,
      ...filters.map((name) => query[name]),
      ...(createdBounds ? [created_after ?? '-infinity', created_before ?? 'infinity'] : []),
      ...(changes ? [updated_since] : []),
      ...(after === undefined ? [] : [after.micros, after.id]),
    ],
  };
}

/**
 * One prepared statement per combination of filters. One or two values have an index in the order of the
 * list, which `created_at` bounds too; a third one filters the rows of two. Changes have one index, and every
 * other condition filters its rows.
 */
export function pageStatement({
  filters,
  createdBounds = false,
  changes = false,
  afterCursor = false,
}: PageShape): Statement {
  let last = 2;
  const next = (): string => `$${(last += 1)}`;
  const position = changes ? 'updated_at' : 'created_at';
  const conditions: string[] = filters.map((name) => `${name} = ${next()}`);
  if (createdBounds)
    conditions.push(`created_at > ${next()}::timestamptz`, `created_at < ${next()}::timestamptz`);
  if (changes) conditions.push(`updated_at >= ${next()}::timestamptz`);
  if (afterCursor) {
    const key = `('epoch'::timestamptz + ${next()}::bigint * interval '1 microsecond', ${next()}::uuid)`;
    conditions.push(`(${position}, id) ${changes ? '>' : '<'} ${key}`);
  }
  const variant = [...filters, ...(createdBounds ? ['created'] : []), ...(changes ? ['updated'] : [])];
  const direction = changes ? 'ASC' : 'DESC';
  return statement(
    `orders.list${afterCursor ? '-next' : ''}:${variant.join(',')}`,
    `SELECT id, status, total_amount, currency, item_count, created_at, updated_at, test,
            (extract(epoch FROM ${position}) * 1000000)::bigint AS position_micros
     FROM orders WHERE ${['creator_id = $1', ...conditions].join(' AND ')}
     ORDER BY ${position} ${direction}, id ${direction} LIMIT $2`,
  );
}
