import { maxAmount, type OrderSnapshot } from '@fulfilment/contracts';
import { type Statement, statement, type Transaction } from '@fulfilment/database';
import { RejectedMessage } from '@fulfilment/messaging';
import { planAnew } from '../plan-anew.js';
import { bookOrders } from '../statistics/book-orders.js';
import { countMoves } from './count-moves.rules.js';
import { type OrderRow, orderRow } from './order-row.rules.js';

const columns = `id uuid, creator_id uuid, version int, placed_at timestamptz, currency text, payment_status text,
  dispatch_status text, tracking_code text, gross_amount bigint, royalty_amount bigint, item_count bigint,
  charged_at timestamptz, refunded_at timestamptz`;

const insertNew = statement(
  'orders.insert',
  `INSERT INTO orders (id, creator_id, version, placed_at, currency, payment_status, dispatch_status, tracking_code,
     gross_amount, royalty_amount, item_count, charged_at, refunded_at)
   SELECT o.* FROM jsonb_to_recordset($1::jsonb) AS o(${columns}) ORDER BY id
   ON CONFLICT (id) DO NOTHING RETURNING id`,
);

const findKnown = statement('orders.known', 'SELECT id FROM orders WHERE id = ANY($1::uuid[])');

const insertItems = statement(
  'orders.insert_items',
  `INSERT INTO order_items SELECT i.* FROM jsonb_to_recordset($1::jsonb) AS i(order_id uuid, position int, id uuid,
     creator_id uuid, release_id uuid, release_title text, product_type text, ean text, quantity int, unit_amount bigint,
     total_amount bigint, vat_amount bigint, royalty_amount bigint, royalty_rate int)`,
);

// What names a release to its creator: nothing else tells this service of releases that were not made through it.
const rememberReleases = statement(
  'orders.remember_releases',
  `INSERT INTO ordered_releases SELECT DISTINCT release_id, creator_id
   FROM jsonb_to_recordset($1::jsonb) AS i(release_id uuid, creator_id uuid) ORDER BY release_id
   ON CONFLICT (release_id) DO NOTHING`,
);

const lockKnown = statement(
  'orders.lock',
  `SELECT id, version, (placed_at AT TIME ZONE 'UTC')::date AS placed_on, payment_status, dispatch_status,
     charged_at IS NOT NULL AS charged, refunded_at IS NOT NULL AS refunded
   FROM orders WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE`,
);

const update = statement(
  'orders.update',
  `UPDATE orders SET version = o.version, payment_status = o.payment_status, dispatch_status = o.dispatch_status,
     tracking_code = o.tracking_code, charged_at = o.charged_at, refunded_at = o.refunded_at
   FROM jsonb_to_recordset($1::jsonb) AS o(${columns}) WHERE orders.id = o.id`,
);

// What is told again of a version that is known: every figure anew, without a write where nothing changes.
const figures = `creator_id, version, placed_at, currency, payment_status, dispatch_status, tracking_code, gross_amount, royalty_amount,
  item_count, charged_at, refunded_at`;
const figuresAgain = figures.replaceAll(/\w+/g, (column) => `o.${column}`);
const putRight = statement(
  'orders.put_right',
  `UPDATE orders SET (${figures}) = ROW(${figuresAgain})
   FROM jsonb_to_recordset($1::jsonb) AS o(${columns})
   WHERE orders.id = o.id AND (${figures.replaceAll(/\w+/g, (column) => `orders.${column}`)}) IS DISTINCT FROM (${figuresAgain})`,
);
const putItemsRight = statement(
  'orders.put_items_right',
  `${insertItems.text}
   ON CONFLICT (order_id, position) DO UPDATE SET (id, creator_id, release_id, release_title, product_type, ean, quantity,
     unit_amount, total_amount, vat_amount, royalty_amount, royalty_rate) = ROW(excluded.id, excluded.creator_id,
     excluded.release_id, excluded.release_title, excluded.product_type, excluded.ean, excluded.quantity, excluded.unit_amount,
     excluded.total_amount, excluded.vat_amount, excluded.royalty_amount, excluded.royalty_rate)
   WHERE order_items IS DISTINCT FROM excluded`,
);

const count = statement(
  'orders.count_moves',
  `INSERT INTO order_counts AS c (creator_id, placed_on, payment_status, dispatch_status, orders)
   SELECT m.* FROM jsonb_to_recordset($1::jsonb) AS m(creator_id uuid, placed_on date, payment_status text,
     dispatch_status text, orders bigint)
   ORDER BY 1, 2, 3, 4
   ON CONFLICT (creator_id, placed_on, payment_status, dispatch_status)
     DO UPDATE SET orders = c.orders + excluded.orders`,
);

export interface ProjectOptions {
  /**
   * What is told again, to make the read model anew: the version that is known is put right, too, line by line, and what it says of money is
   * booked unless the ledger has it.
   */
  readonly again?: boolean;
}

interface KnownOrder {
  id: string;
  version: number;
  placed_on: string;
  payment_status: string;
  dispatch_status: string;
  charged: boolean;
  refunded: boolean;
}

/**
 * Keeps each order as its newest version says, the counts of the filters beside it, and books what money moved. Versions only
 * grow, so a message that comes twice, late or in another order changes nothing.
 * @param snapshots at most one of an order
 */
export async function projectOrders(
  tx: Transaction,
  snapshots: readonly OrderSnapshot[],
  { again = false }: ProjectOptions = {},
): Promise<void> {
  if (snapshots.length === 0) return;
  const orders = snapshots.map(orderRow);
  if (orders.some((order) => BigInt(order.gross_amount) > BigInt(maxAmount)))
    throw new RejectedMessage('The total of the order lines exceeds the maximum amount.');
  const planning = planAnew(tx); // goes out with the next statement
  // Orders first, in the order of their ids, then releases, then counts, then the ledger: replicas that share orders wait, none deadlock.
  const [added] = await Promise.all([insertUnknown(tx, orders), planning]);
  const addedIds = new Set(added.map((order) => order.id));
  const known = orders.filter((order) => !addedIds.has(order.id));
  const moved = await updateKnown(tx, known, again);
  const withReleases = again ? orders : added;
  const moves = countMoves(added, moved);
  await Promise.all([
    withReleases.length > 0 && tx.run(rememberReleases, [releasesIn(withReleases)]),
    moves.length > 0 && tx.run(count, [JSON.stringify(moves)]),
  ]);
  await bookOrders(tx, [
    ...added.filter((order) => order.charged_at !== null).map((order) => order.id),
    ...moved
      .filter(({ before, after }) => (again ? after.charged_at !== null : moneyMoved(before, after)))
      .map(({ after }) => after.id),
  ]);
}

async function insertUnknown(tx: Transaction, orders: readonly OrderRow[]): Promise<OrderRow[]> {
  // Of an order that is told of for the first time nothing is known, as a rule.
  const later = orders.filter((order) => order.version > 1).map((order) => order.id);
  const known = later.length === 0 ? new Set<string>() : await idsOf(tx, findKnown, [later]);
  const unknown = orders.filter((order) => !known.has(order.id));
  if (unknown.length === 0) return [];
  const ids = await idsOf(tx, insertNew, [asRows(unknown)]); // without those that another replica has just added
  const added = unknown.filter((order) => ids.has(order.id));
  if (added.length > 0) await tx.run(insertItems, [JSON.stringify(added.flatMap((order) => order.items))]);
  return added;
}

async function idsOf(tx: Transaction, which: Statement, values: readonly unknown[]): Promise<Set<string>> {
  const rows = await tx.rows<{ id: string }>(which, values);
  return new Set(rows.map((row) => row.id));
}

/** Each release of the orders once. */
function releasesIn(orders: readonly OrderRow[]): string {
  const lines = orders.flatMap((order) => order.items);
  const releases = new Map(
    lines.map(({ release_id, creator_id }) => [release_id, { release_id, creator_id }]),
  );
  return JSON.stringify([...releases.values()]);
}

/** Without the lines, which PostgreSQL would read for nothing. */
function asRows(orders: readonly OrderRow[]): string {
  return JSON.stringify(orders.map(({ items: _, ...row }) => row));
}

async function updateKnown(
  tx: Transaction,
  orders: readonly OrderRow[],
  again: boolean,
): Promise<{ before: KnownOrder; after: OrderRow }[]> {
  if (orders.length === 0) return [];
  const given = new Map(orders.map((order) => [order.id, order]));
  const known = await tx.rows<KnownOrder>(lockKnown, [[...given.keys()]]);
  const moved = known.flatMap((before) => {
    const after = given.get(before.id);
    const isNews = after !== undefined && after.version > before.version - (again ? 1 : 0);
    return isNews ? [{ before, after }] : [];
  });
  if (moved.length === 0) return [];
  const rows = moved.map(({ after }) => after);
  await tx.run(again ? putRight : update, [asRows(rows)]);
  if (again) await tx.run(putItemsRight, [JSON.stringify(rows.flatMap((order) => order.items))]);
  return moved;
}

function moneyMoved(before: KnownOrder, after: OrderRow): boolean {
  return (!before.charged && after.charged_at !== null) || (!before.refunded && after.refunded_at !== null);
}
