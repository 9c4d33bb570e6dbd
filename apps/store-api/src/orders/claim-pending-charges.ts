import { statement } from '@fulfilment/database';
import { openChargeColumns } from '../billing/open-charge.js';

/**
 * The condition is text so that the partial index of its name applies; as a parameter, it would be compared
 * with every due order.
 */
const claimPending = (name: string, tries: string) =>
  statement(
    `orders.claim-${name}`,
    `UPDATE orders o SET resume_at = now() + $1::int * interval '1 millisecond'
     FROM (SELECT id FROM orders WHERE resume_at < now() AND ${tries}
           ORDER BY resume_at LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
     JOIN charges c ON c.order_id = due.id AND c.status = 'pending'
     WHERE o.id = due.id
     RETURNING ${openChargeColumns('c')}`,
  );

/** Claims orders whose request ended before its charge got a response. */
export const claimUnattempted = claimPending('first', 'resume_tries = 0');

/** Claims orders whose charge was attempted without an outcome. */
export const claimRetries = claimPending('again', 'resume_tries > 0');
