import { type Statement, statement } from '@fulfilment/database';
import type { CursorKey } from '@fulfilment/http-service';
import type { ListOrdersDto } from './list-orders.dto.js';
import type { OrderSummaryRow } from './order.view.js';

const valueFilters = ['status', 'platform', 'store_id', 'external_order_id'] as const;
const timeFilters = ['created_after', 'created_before', 'updated_since'] as const;

/** An order in a list. */
export interface OrderPageRow extends OrderSummaryRow {
  /** The time by which the list is sorted, in microseconds since 1970. */
  readonly position_micros: number;
}

/** The properties of a page that its statement depends on. A missing property is false. */
interface PageVariant {
  readonly filters: readonly (typeof valueFilters)[number][];
  /** Filters by `created_at`. */
  readonly createdBounds?: boolean;
  /** Sorts by `updated_at`, the oldest change first, instead of the newest order first. */
  readonly byUpdateTime?: boolean;
  /** Continues after the last order of the previous page. */
  readonly afterCursor?: boolean;
}

/**
 * Returns what a cursor of the list is bound to. Without filters by time, it is the same as before these were
 * added, so cursors of earlier releases stay valid.
 */
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

/**
 * Returns the statement of a page with its values, in the order in which `pageStatement` numbers the
 * parameters. It reads one row more than the page has.
 */
export function pageQuery(
  creatorId: string | undefined,
  query: ListOrdersDto,
  after: CursorKey | undefined,
): { readonly statement: Statement; readonly values: readonly unknown[] } {
  const { created_after, created_before, updated_since } = query;
  const filters = valueFilters.filter((name) => query[name] !== undefined);
  const createdBounds = created_after !== undefined || created_before !== undefined;
  const byUpdateTime = updated_since !== undefined;
  return {
    statement: pageStatement({ filters, createdBounds, byUpdateTime, afterCursor: after !== undefined }),
    values: [
      creatorId,
      query.limit + 1,
      ...filters.map((name) => query[name]),
      ...(createdBounds ? [created_after ?? '-infinity', created_before ?? 'infinity'] : []),
      ...(byUpdateTime ? [updated_since] : []),
      ...(after === undefined ? [] : [after.micros, after.id]),
    ],
  };
}

/**
 * One prepared statement per combination of filters. In the order of creation, an index serves one or two
 * filters by value and the bounds of `created_at`; a further filter is applied to its rows. In the order of
 * updates, one index serves every list, and all filters are applied to its rows.
 */
function pageStatement({
  filters,
  createdBounds = false,
  byUpdateTime = false,
  afterCursor = false,
}: PageVariant): Statement {
  let lastParameter = 2;
  const nextParameter = (): string => `$${(lastParameter += 1)}`;
  const position = byUpdateTime ? 'updated_at' : 'created_at';
  const conditions: string[] = filters.map((name) => `${name} = ${nextParameter()}`);
  if (createdBounds)
    conditions.push(
      `created_at > ${nextParameter()}::timestamptz`,
      `created_at < ${nextParameter()}::timestamptz`,
    );
  if (byUpdateTime) conditions.push(`updated_at >= ${nextParameter()}::timestamptz`);
  if (afterCursor) {
    const key = `('epoch'::timestamptz + ${nextParameter()}::bigint * interval '1 microsecond', ${nextParameter()}::uuid)`;
    conditions.push(`(${position}, id) ${byUpdateTime ? '>' : '<'} ${key}`);
  }
  const filterNames = [
    ...filters,
    ...(createdBounds ? ['created'] : []),
    ...(byUpdateTime ? ['updated'] : []),
  ];
  const direction = byUpdateTime ? 'ASC' : 'DESC';
  return statement(
    `orders.list${afterCursor ? '-next' : ''}:${filterNames.join(',')}`,
    `SELECT id, status, total_amount, currency, item_count, created_at, updated_at, test,
            (extract(epoch FROM ${position}) * 1000000)::bigint AS position_micros
     FROM orders WHERE ${['creator_id = $1', ...conditions].join(' AND ')}
     ORDER BY ${position} ${direction}, id ${direction} LIMIT $2`,
  );
}
