import { type Statement, statement, type Values } from '@fulfilment/database';
import type { CursorKey } from '@fulfilment/http-service';
import type { ListOrdersDto } from './list-orders.dto.js';
import type { OrderSummaryRow } from './order.view.js';

const valueFilters = ['status', 'platform', 'store_id', 'external_order_id'] as const;
const timeFilters = ['created_after', 'created_before', 'updated_since'] as const;

/** Short forms of the value filters, because the name of a statement is limited to 63 bytes. */
const shortNames = {
  status: 'status',
  platform: 'platform',
  store_id: 'store',
  external_order_id: 'external',
} as const satisfies Record<(typeof valueFilters)[number], string>;

/** An order in a list. */
export interface OrderPageRow extends OrderSummaryRow {
  /** The time by which the list is sorted, in microseconds since 1970. */
  readonly position_micros: number;
}

/**
 * Returns the values that a cursor is bound to: it is valid only for the same creator and filters. Only
 * cursors of lists with time filters are bound to them, so that cursors which clients got before these
 * filters existed stay valid.
 */
export function boundValues(
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
 * Returns the statement of a page with its values: one prepared statement per combination of filters. It
 * reads one row more than the page has, which shows whether there is a next page.
 *
 * Sorted by creation, a list has an index for each filter by value, for each pair of status, platform and
 * store, and for the bounds of `created_at`. Sorted by update, all lists use one index. The filters that the
 * index does not contain are applied to its rows.
 */
export function pageQuery(
  creatorId: string | undefined,
  query: ListOrdersDto,
  after: CursorKey | undefined,
): { readonly statement: Statement; readonly values: Values } {
  const { created_after = '-infinity', created_before = 'infinity', updated_since, limit } = query;
  const filters = valueFilters.filter((name) => query[name] !== undefined);
  const hasCreationBounds = query.created_after !== undefined || query.created_before !== undefined;
  const sortsByUpdate = updated_since !== undefined;
  const { sortColumn, direction, afterOperator } = sortsByUpdate
    ? { sortColumn: 'updated_at', direction: 'ASC', afterOperator: '>' }
    : { sortColumn: 'created_at', direction: 'DESC', afterOperator: '<' };
  const conditions = ['creator_id = :creator_id', ...filters.map((name) => `${name} = :${name}`)];
  if (hasCreationBounds)
    conditions.push('created_at > :created_after::timestamptz', 'created_at < :created_before::timestamptz');
  if (sortsByUpdate) conditions.push('updated_at >= :updated_since::timestamptz');
  if (after !== undefined)
    conditions.push(
      `(${sortColumn}, id) ${afterOperator} ('epoch'::timestamptz + :micros::bigint * interval '1 microsecond', :id::uuid)`,
    );
  const filterNames = [
    ...filters.map((name) => shortNames[name]),
    ...(hasCreationBounds ? ['created'] : []),
    ...(sortsByUpdate ? ['updated'] : []),
  ];
  return {
    statement: statement(
      `orders.${after === undefined ? 'list' : 'next'}:${filterNames.join(',')}`,
      `SELECT id, status, total_amount, currency, item_count, created_at, updated_at, test,
              (extract(epoch FROM ${sortColumn}) * 1000000)::bigint AS position_micros
       FROM orders WHERE ${conditions.join(' AND ')}
       ORDER BY ${sortColumn} ${direction}, id ${direction} LIMIT :max_rows`,
    ),
    values: { ...query, ...after, creator_id: creatorId, created_after, created_before, max_rows: limit + 1 },
  };
}
