import { statement } from '@fulfilment/database';
import { openChargeColumns } from '../billing/open-charge.js';

/** @param condition SQL of the partial index `orders_to_resume_<name>`, which a parameter could not match */
const claimPending = (name: string, condition: string) =>
  statement(
    `orders.claim-${name}`,
    `UPDATE orders o SET resume_at = now() + $1::int * interval '1 millisecond'
     FROM (SELECT id FROM orders WHERE resume_at < now() AND ${condition}
           ORDER BY resume_at LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
     JOIN charges c ON c.order_id = due.id AND c.status = 'pending'
     WHERE o.id = due.id
     RETURNING ${openChargeColumns('c')}`,
  );

/** Claims orders whose request died before it recorded the result of the charge. */
export const claimUnattempted = claimPending('first', 'resume_tries = 0');

/** Claims orders whose earlier attempts to charge had no outcome. */
export const claimRetries = claimPending('again', 'resume_tries > 0');
