import { statement } from '@fulfilment/database';
import { openChargeColumns } from '../billing/open-charge.js';

interface PartialIndex {
  /** Last part of the name of the index: `orders_to_resume_<suffix>`. */
  readonly suffix: string;
  /** SQL condition of the index. With a parameter in it, PostgreSQL could not use the index. */
  readonly condition: string;
}

const claimPending = ({ suffix, condition }: PartialIndex) =>
  statement(
    `orders.claim-${suffix}`,
    `UPDATE orders o SET resume_at = now() + $1::int * interval '1 millisecond'
     FROM (SELECT id FROM orders WHERE resume_at < now() AND ${condition}
           ORDER BY resume_at LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
     JOIN charges c ON c.order_id = due.id AND c.status = 'pending'
     WHERE o.id = due.id
     RETURNING ${openChargeColumns('c')}`,
  );

/**
 * Claims orders without a recorded attempt to charge: their request died, an open circuit suspended the
 * charge, or a recharge began.
 */
export const claimUnattempted = claimPending({ suffix: 'first', condition: 'resume_tries = 0' });

/** Claims orders whose earlier attempts to charge had no outcome. */
export const claimRetries = claimPending({ suffix: 'again', condition: 'resume_tries > 0' });
