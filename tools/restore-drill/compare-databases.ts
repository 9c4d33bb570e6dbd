import { publicId } from '@fulfilment/contracts';
import type { LostByRestore } from '../chaos/read-sets.ts';
import { readRows } from '../chaos/sql.ts';
import type { ServiceName } from '../dev/ports.ts';

/** URLs of an administrator for one database: as it was when the service stopped, and restored. */
export interface TwoStates {
  readonly stopped: string;
  readonly restored: string;
}

/** What the restored database lacks. Read before the service is started. */
export async function readLost(service: ServiceName, states: TwoStates): Promise<LostByRestore> {
  const orders = service === 'store-api' ? await missingRows(states, readOrders) : [];
  const older = service === 'store-api' ? await readEarlierOrders(states) : [];
  const unpublished = await readUnpublished(states.stopped);
  const events = service === 'webhook-worker' ? await missingRows(states, readEvents) : [];
  return {
    orders: new Map(orders.map(({ id, units }) => [String(id), Number(units)])),
    unpublished: new Set(
      unpublished.filter(({ order }) => orders.some(({ id }) => id === order)).map(messageOf),
    ),
    earlierOrders: new Set(older),
    events: new Set(events.map(({ id }) => String(id))),
  };
}

function messageOf({ order, type }: Record<string, unknown>): string {
  return `${publicId('ord', String(order))} ${String(type)}`;
}

/** Tables with another number of rows. */
export async function readRowCounts({
  stopped,
  restored,
}: TwoStates): Promise<{ table: string; stopped: number; restored: number }[]> {
  const [before, after] = await Promise.all([countRows(stopped), countRows(restored)]);
  return [...before]
    .map(([table, count]) => ({ table, stopped: count, restored: after.get(table) ?? 0 }))
    .filter((row) => row.stopped !== row.restored);
}

/**
 * The payment provider does not go back in time with our database. Its sandbox is a table of ours, so the
 * rows that the restore took back are copied.
 */
export async function keepPaymentsOfProvider({ stopped, restored }: TwoStates): Promise<void> {
  const rows = await readRows(stopped, 'SELECT to_jsonb(c) AS charge FROM sandbox_charges c');
  await readRows(
    restored,
    `INSERT INTO sandbox_charges SELECT c.* FROM jsonb_populate_recordset(NULL::sandbox_charges, $1) c
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows.map(({ charge }) => charge))],
  );
}

type Read = (url: string) => Promise<Record<string, unknown>[]>;

const readOrders: Read = (url) =>
  readRows(
    url,
    `SELECT o.id, o.version, (SELECT sum(i.quantity) FROM order_items i WHERE i.order_id = o.id)::int AS units
     FROM orders o`,
  );

const readEvents: Read = (url) =>
  readRows(
    url,
    `SELECT convert_from(body, 'UTF8')::jsonb #>> '{data,order_id}' || ' ' || event AS id
     FROM webhook_events WHERE event LIKE 'order.%'`,
  );

const readUnpublished: Read = (url) =>
  readRows(url, "SELECT body #>> '{data,order,id}' AS order, type FROM outbox WHERE type LIKE 'order.%'");

async function missingRows({ stopped, restored }: TwoStates, read: Read): Promise<Record<string, unknown>[]> {
  const [before, after] = await Promise.all([read(stopped), read(restored)]);
  const kept = new Set(after.map(({ id }) => id));
  return before.filter(({ id }) => !kept.has(id));
}

async function readEarlierOrders({ stopped, restored }: TwoStates): Promise<string[]> {
  const [before, after] = await Promise.all([readOrders(stopped), readOrders(restored)]);
  const versions = new Map(before.map(({ id, version }) => [id, version]));
  return after
    .filter(({ id, version }) => versions.get(id) !== version)
    .map(({ id }) => publicId('ord', String(id)));
}

async function countRows(url: string): Promise<Map<string, number>> {
  const rows = await readRows(
    url,
    `SELECT relname AS name, (xpath('/row/c/text()', query_to_xml(format('SELECT count(*) AS c FROM %s', oid::regclass),
       false, true, '')))[1]::text::int AS count
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
     ORDER BY relname`,
  );
  return new Map(rows.map(({ name, count }) => [String(name), Number(count)]));
}
