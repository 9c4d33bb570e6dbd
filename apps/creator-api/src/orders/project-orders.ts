import { maxAmount, type OrderSnapshot } from '@fulfilment/contracts';
import { qualifyColumns, pipelined, type Statement, statement, type Transaction } from '@fulfilment/database';
import { RejectedMessage } from '@fulfilment/messaging';
import { useIndexPlans } from '../read-models/use-index-plans.js';
import { postOrders } from '../ledger/post-orders.js';
import { countChanges } from './count-changes.rules.js';
import { appCountKey, countKey } from './order-columns.sql.js';
import { type OrderRow, orderRow } from './order-row.rules.js';

const columns = `creator_id, version, placed_at, currency, payment_status, dispatch_status, tracking_code, gross_amount, royalty_amount,
  item_count, country_code, platform, client_id, charged_at, refunded_at`;
// In the order of `columns`, after the id.
const snapshotRowsSql = `jsonb_to_recordset($1::jsonb) AS o(id uuid, creator_id uuid, version int, placed_at timestamptz, currency text,
  payment_status text, dispatch_status text, tracking_code text, gross_amount bigint, royalty_amount bigint, item_count bigint,
  country_code text, platform text, client_id text, charged_at timestamptz, refunded_at timestamptz)`;

const insertNew = statement(
  'orders.insert',
  `INSERT INTO orders (id, ${columns}) SELECT o.* FROM ${snapshotRowsSql} ORDER BY id
   ON CONFLICT (id) DO NOTHING RETURNING id`,
);

const findKnown = statement('orders.known', 'SELECT id FROM orders WHERE id = ANY($1::uuid[])');

const insertItems = statement(
  'orders.insert-items',
  `INSERT INTO order_items (order_id, position, id, creator_id, release_id, release_title, product_type, ean, quantity,
     unit_amount, total_amount, vat_amount, royalty_amount, royalty_rate)
   SELECT i.* FROM jsonb_to_recordset($1::jsonb) AS i(order_id uuid, position int, id uuid,
     creator_id uuid, release_id uuid, release_title text, product_type text, ean text, quantity int, unit_amount bigint,
     total_amount bigint, vat_amount bigint, royalty_amount bigint, royalty_rate int)`,
);

// The orders of a release of the catalogue are the only source of its creator.
const recordReleases = statement(
  'orders.record-releases',
  `INSERT INTO ordered_releases (release_id, creator_id) SELECT DISTINCT release_id, creator_id
   FROM jsonb_to_recordset($1::jsonb) AS i(release_id uuid, creator_id uuid) ORDER BY release_id
   ON CONFLICT (release_id) DO NOTHING`,
);

const lockKnown = statement(
  'orders.lock',
  `SELECT id, version, (placed_at AT TIME ZONE 'UTC')::date AS placed_on, payment_status, dispatch_status,
     client_id, charged_at IS NOT NULL AS was_charged, refunded_at IS NOT NULL AS was_refunded
   FROM orders WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE`,
);

// Writes the columns that a later version of an order may change.
const update = statement(
  'orders.update',
  `UPDATE orders SET version = o.version, payment_status = o.payment_status, dispatch_status = o.dispatch_status,
     tracking_code = o.tracking_code, country_code = o.country_code, platform = o.platform,
     client_id = o.client_id, charged_at = o.charged_at, refunded_at = o.refunded_at
   FROM ${snapshotRowsSql} WHERE orders.id = o.id`,
);

// For a replay, which overwrites every column of a stored order. Writes no row that is already correct.
const overwriteOrders = statement(
  'orders.overwrite',
  `UPDATE orders SET (${columns}) = ROW(${qualifyColumns('o', columns)}) FROM ${snapshotRowsSql}
   WHERE orders.id = o.id AND (${qualifyColumns('orders', columns)}) IS DISTINCT FROM (${qualifyColumns('o', columns)})`,
);
const overwriteItems = statement(
  'orders.overwrite-items',
  `${insertItems.text}
   ON CONFLICT (order_id, position) DO UPDATE SET (id, creator_id, release_id, release_title, product_type, ean, quantity,
     unit_amount, total_amount, vat_amount, royalty_amount, royalty_rate) = ROW(excluded.id, excluded.creator_id,
     excluded.release_id, excluded.release_title, excluded.product_type, excluded.ean, excluded.quantity, excluded.unit_amount,
     excluded.total_amount, excluded.vat_amount, excluded.royalty_amount, excluded.royalty_rate)
   WHERE order_items IS DISTINCT FROM excluded -- compares all columns`,
);

/** SQL: adds changes to the counts of a table. @param condition on the changes that it counts */
const addToCountsSql = (table: string, key: string, condition: string): string =>
  `INSERT INTO ${table} AS c (${key}, orders)
   SELECT ${key}, sum(orders) FROM jsonb_to_recordset($1::jsonb) AS m(creator_id uuid, placed_on date, payment_status text,
     dispatch_status text, client_id text, orders bigint)
   WHERE ${condition} GROUP BY ${key} HAVING sum(orders) <> 0 ORDER BY ${key}
   ON CONFLICT (${key}) DO UPDATE SET orders = c.orders + excluded.orders`;
const changeCounts = statement('orders.change-counts', addToCountsSql('order_counts', countKey, 'true'));
const changeCountsByApp = statement(
  'orders.change-counts-by-app',
  addToCountsSql('order_counts_by_app', appCountKey, 'client_id IS NOT NULL'),
);

interface ProjectOptions {
  /** Also overwrites a stored order of the same version, and posts a sale or refund that the ledger lacks. */
  readonly replay?: boolean;
}

interface KnownOrder {
  id: string;
  version: number;
  placed_on: string;
  payment_status: string;
  dispatch_status: string;
  client_id: string | null;
  was_charged: boolean;
  was_refunded: boolean;
}

/**
 * Stores the latest version of each order, updates the order counts and posts sales and refunds. Versions
 * only increase, so a repeated message, or one that arrives after a newer one, changes nothing.
 * @param snapshots at most one per order
 */
export async function projectOrders(
  tx: Transaction,
  snapshots: readonly OrderSnapshot[],
  { replay = false }: ProjectOptions = {},
): Promise<void> {
  if (snapshots.length === 0) return;
  const orders = snapshots.map(orderRow);
  if (orders.some((order) => BigInt(order.gross_amount) > BigInt(maxAmount)))
    throw new RejectedMessage('The total of the order lines exceeds the maximum amount.');
  // A fixed lock order prevents deadlocks between replicas: orders by id, then releases, counts, ledger.
  // `useIndexPlans` is sent together with the first statement of `insertUnknownOrders`: no round trip more.
  const [, added] = await pipelined([useIndexPlans(tx), insertUnknownOrders(tx, orders)]);
  const addedIds = new Set(added.map((order) => order.id));
  const known = orders.filter((order) => !addedIds.has(order.id));
  const updated = await updateKnownOrders(tx, known, { replay });
  const ordersToRecord = replay ? orders : added;
  const changes = countChanges(added, updated);
  await pipelined([
    ordersToRecord.length > 0 && tx.run(recordReleases, [releasesIn(ordersToRecord)]),
    changes.length > 0 && tx.run(changeCounts, [JSON.stringify(changes)]),
    changes.length > 0 && tx.run(changeCountsByApp, [JSON.stringify(changes)]),
  ]);
  // `postOrders` posts nothing twice, so the sale of an order that is newly refunded is not posted again.
  await postOrders(tx, [
    ...added.filter((order) => order.charged_at !== null),
    ...updated
      .filter(({ before, after }) =>
        replay ? after.charged_at !== null : isNewlyPaidOrRefunded(before, after),
      )
      .map(({ after }) => after),
  ]);
}

async function insertUnknownOrders(tx: Transaction, orders: readonly OrderRow[]): Promise<OrderRow[]> {
  // An order of version 1 is normally unknown, so only orders of later versions are looked up.
  const laterIds = orders.filter((order) => order.version > 1).map((order) => order.id);
  const known = laterIds.length === 0 ? new Set<string>() : await returnedIds(tx, findKnown, [laterIds]);
  const unknown = orders.filter((order) => !known.has(order.id));
  if (unknown.length === 0) return [];
  const insertedIds = await returnedIds(tx, insertNew, [toRowsJson(unknown)]);
  // Excludes the orders that another replica has inserted since.
  const added = unknown.filter((order) => insertedIds.has(order.id));
  if (added.length > 0) await tx.run(insertItems, [JSON.stringify(added.flatMap((order) => order.items))]);
  return added;
}

async function returnedIds(
  tx: Transaction,
  returningIds: Statement,
  values: readonly unknown[],
): Promise<Set<string>> {
  const rows = await tx.rows<{ id: string }>(returningIds, values);
  return new Set(rows.map((row) => row.id));
}

/** JSON of the distinct releases of the orders. */
function releasesIn(orders: readonly OrderRow[]): string {
  const lines = orders.flatMap((order) => order.items);
  const releases = new Map(
    lines.map(({ release_id, creator_id }) => [release_id, { release_id, creator_id }]),
  );
  return JSON.stringify([...releases.values()]);
}

/** JSON of the orders without their lines, which the statements do not use. */
function toRowsJson(orders: readonly OrderRow[]): string {
  return JSON.stringify(orders.map(({ items: _, ...row }) => row));
}

async function updateKnownOrders(
  tx: Transaction,
  orders: readonly OrderRow[],
  { replay }: Required<ProjectOptions>,
): Promise<{ before: KnownOrder; after: OrderRow }[]> {
  if (orders.length === 0) return [];
  const snapshots = new Map(orders.map((order) => [order.id, order]));
  const known = await tx.rows<KnownOrder>(lockKnown, [[...snapshots.keys()]]);
  const updated = known.flatMap((before) => {
    const after = snapshots.get(before.id);
    if (after === undefined) return [];
    const isApplied = replay ? after.version >= before.version : after.version > before.version;
    // A store-api of an earlier version publishes no client_id.
    const client_id = after.client_id ?? before.client_id;
    return isApplied ? [{ before, after: { ...after, client_id } }] : [];
  });
  if (updated.length === 0) return [];
  const rows = updated.map(({ after }) => after);
  await tx.run(replay ? overwriteOrders : update, [toRowsJson(rows)]);
  if (replay) await tx.run(overwriteItems, [JSON.stringify(rows.flatMap((order) => order.items))]);
  return updated;
}

function isNewlyPaidOrRefunded(before: KnownOrder, after: OrderRow): boolean {
  const isNewlyPaid = !before.was_charged && after.charged_at !== null;
  const isNewlyRefunded = !before.was_refunded && after.refunded_at !== null;
  return isNewlyPaid || isNewlyRefunded;
}
