import { statement } from '@fulfilment/database';
import { openChargeColumns } from './open-charge.js';

/** Each condition is written as in the index of its name: as a parameter, it would be compared with every overdue order. */
const takePending = (name: string, tries: string) =>
  statement(
    `orders.take-pending-${name}`,
    `UPDATE orders o SET resume_at = now() + $1::int * interval '1 millisecond'
     FROM (SELECT id FROM orders WHERE resume_at < now() AND ${tries}
           ORDER BY resume_at LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
     JOIN charges c ON c.order_id = due.id AND c.status = 'pending'
     WHERE o.id = due.id
     RETURNING ${openChargeColumns('c')}`,
  );

/** Takes up orders for which the provider gave no response, because the request ended before. */
export const takeFirst = takePending('first', 'resume_tries = 0');

/** Takes up orders for which the provider was asked in vain. */
export const takeAgain = takePending('again', 'resume_tries > 0');
