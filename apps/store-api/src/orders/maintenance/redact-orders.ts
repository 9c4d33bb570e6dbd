import { type OrderStatus, parsePublicId } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { Conflict, throwNotFound } from '@fulfilment/error-envelope';

/** Replaces a text that was personal data. */
const redactedText = 'redacted';

const batchSize = 500;

// Redacts the text of each member that is not empty, except the country, which statistics need. Version 1.0.0
// stored the reason of a cancellation.
const redactSql = `
  UPDATE orders o SET metadata = '{}', reason = NULL, redacted_at = now(), shipping_address = (
    SELECT jsonb_object_agg(part.key, CASE WHEN part.key = 'country_code' OR part.value IN ('""', 'null') THEN part.value
                                           ELSE to_jsonb('${redactedText}'::text) END)
    FROM jsonb_each(o.shipping_address) AS part)`;
// A pending or processing order needs its address, and so does an order that is being recharged.
const needsNoAddressSql = `status NOT IN ('pending', 'processing') AND (status <> 'payment_failed' OR resume_at IS NULL)`;
const redactOne = statement(
  'orders.redact',
  `${redactSql} WHERE id = $1 AND redacted_at IS NULL AND ${needsNoAddressSql}`,
);
const readState = statement(
  'orders.redaction-state',
  'SELECT status, redacted_at AS "redactedAt" FROM orders WHERE id = $1',
);
// The retention of an order that was not delivered starts with its last change. The warehouse may report any
// time of delivery, so the order must also be that old. A locked order is left to the next round.
const redactOld = statement(
  'orders.redact-old',
  `${redactSql}
   FROM (SELECT id FROM orders
         WHERE redacted_at IS NULL AND ${needsNoAddressSql}
           AND coalesce(delivered_at, updated_at) < now() - $1::int * interval '1 day'
           AND created_at < now() - $1::int * interval '1 day'
         ORDER BY coalesce(delivered_at, updated_at) LIMIT ${batchSize} FOR UPDATE SKIP LOCKED) AS old
   WHERE o.id = old.id`,
);

/**
 * Redacts the address of one order, and deletes its metadata. Idempotent.
 * @param order the public id
 * @throws NotFound; Conflict while the address is still needed to send the order
 */
export async function redactOrder(database: Database, order: string): Promise<{ redacted_at: string }> {
  const orderId = parsePublicId('ord', order) ?? throwNotFound('order');
  await database.run(redactOne, [orderId]);
  const state = await database.row<{ status: OrderStatus; redactedAt: Date | null }>(readState, [orderId]);
  if (state === undefined) return throwNotFound('order');
  if (state.redactedAt === null) {
    const stateText = state.status === 'payment_failed' ? 'being recharged' : state.status;
    throw new Conflict(`The order is ${stateText} and needs its address. Cancel the order first.`);
  }
  return { redacted_at: state.redactedAt.toISOString() };
}

/**
 * Redacts a batch of addresses after their retention, and returns their number. Several replicas may run it.
 * @param retentionDays 0 keeps all addresses
 */
export async function redactOldAddresses(database: Database, retentionDays: number): Promise<number> {
  return retentionDays === 0 ? 0 : database.run(redactOld, [retentionDays]);
}
