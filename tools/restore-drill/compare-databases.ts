import { publicId } from '@fulfilment/contracts';
import type { ServiceName } from '@fulfilment/contracts/permissions';
import type { LostByRestore } from '../chaos/comparison/compare-with-accepted.ts';
import { say } from '../dev/output/progress.ts';
import { runSql } from '../dev/run-sql.ts';

/** Administrator URLs of the database that the stopped service used, and of the restored one. */
export interface DatabaseUrls {
  readonly stopped: string;
  readonly restored: string;
}

/** Prints the tables in which the restored database has another number of rows. */
export async function printDifferingRowCounts(urls: DatabaseUrls): Promise<void> {
  const [before, after] = await Promise.all([countRows(urls.stopped), countRows(urls.restored)]);
  for (const [table, count] of before)
    if (after.get(table) !== count)
      say(`  ${table}: ${count} rows when it stopped, ${after.get(table) ?? 0} restored`);
}

/** Returns what the restored database lacks. Call it before the service starts with this database. */
export async function findLost(service: ServiceName, urls: DatabaseUrls): Promise<LostByRestore> {
  const [orders, earlierOrders] = service === 'store-api' ? await compareOrders(urls) : [[], []];
  const unpublished = await runSql(
    urls.stopped,
    "SELECT body #>> '{data,order,id}' AS order, type FROM outbox WHERE type LIKE 'order.%'",
  );
  const events =
    service === 'webhook-worker'
      ? missingRows(await readEvents(urls.stopped), await readEvents(urls.restored))
      : [];
  return {
    orders: new Map(orders.map(({ id, units }) => [String(id), Number(units)])),
    unpublished: new Set(
      unpublished
        .filter(({ order }) => orders.some(({ id }) => id === order))
        .map(({ order, type }) => `${publicId('ord', String(order))} ${String(type)}`),
    ),
    earlierOrders: new Set(earlierOrders.map(({ id }) => publicId('ord', String(id)))),
    events: new Set(events.map(({ id }) => String(id))),
  };
}

/**
 * Copies the payments at the provider that the restore removed. A real provider keeps them, but the sandbox
 * is a table of the restored database.
 */
export async function restorePaymentsAtProvider({ stopped, restored }: DatabaseUrls): Promise<void> {
  const rows = await runSql(stopped, 'SELECT to_jsonb(c) AS charge FROM sandbox_charges c');
  await runSql(
    restored,
    `INSERT INTO sandbox_charges SELECT c.* FROM jsonb_populate_recordset(NULL::sandbox_charges, $1) c
     ON CONFLICT (idempotency_key) DO UPDATE SET refunded_at = EXCLUDED.refunded_at`,
    [JSON.stringify(rows.map(({ charge }) => charge))],
  );
}

type Row = Record<string, unknown>;
type Read = (url: string) => Promise<Row[]>;

const readOrders: Read = (url) =>
  runSql(
    url,
    `SELECT o.id, o.version, (SELECT sum(i.quantity) FROM order_items i WHERE i.order_id = o.id)::int AS units
     FROM orders o`,
  );

/** Their `id` has the form of the accepted events (compare-with-accepted.ts). */
const readEvents: Read = (url) =>
  runSql(
    url,
    `SELECT convert_from(body, 'UTF8')::jsonb #>> '{data,order_id}' || ' ' || event AS id
     FROM webhook_events WHERE event LIKE 'order.%'`,
  );

function missingRows(before: readonly Row[], after: readonly Row[]): Row[] {
  const ids = new Set(after.map(({ id }) => id));
  return before.filter(({ id }) => !ids.has(id));
}

/** Returns the orders that are missing, and those that were restored in an earlier version. */
async function compareOrders({ stopped, restored }: DatabaseUrls): Promise<[missing: Row[], earlier: Row[]]> {
  const [before, after] = await Promise.all([readOrders(stopped), readOrders(restored)]);
  const versions = new Map(before.map(({ id, version }) => [id, version]));
  return [missingRows(before, after), after.filter(({ id, version }) => versions.get(id) !== version)];
}

/** Counts the rows of each table. `query_to_xml` executes a query that is built from the table's name. */
async function countRows(url: string): Promise<Map<string, number>> {
  const rows = await runSql(
    url,
    `SELECT relname AS name, (xpath('/row/c/text()', query_to_xml(format('SELECT count(*) AS c FROM %s', oid::regclass),
       false, true, '')))[1]::text::int AS count
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
     ORDER BY relname`,
  );
  return new Map(rows.map(({ name, count }) => [String(name), Number(count)]));
}
