import { type Database, statement } from '@fulfilment/database';
import { planAnew } from '../plan-anew.js';
import { bookOrders } from './book-orders.js';
import { rateOfPayment } from './rate-of-payment.js';

const batchSize = 500;

// The order's row is locked, as when a message moves it: a booking and a refund of one order never pass each other.
const takeBookable = statement(
  'bookings.take',
  `SELECT o.id FROM waiting_bookings w
   JOIN orders o ON o.id = w.order_id
   JOIN creators c ON c.id = o.creator_id
   LEFT JOIN ${rateOfPayment} ON true
   WHERE o.currency = c.settlement_currency OR r.rate_date IS NOT NULL
   ORDER BY o.id LIMIT ${batchSize} FOR UPDATE OF o SKIP LOCKED`,
);

/** Books a batch of the orders that waited for what is known now. Answers whether there may be more. */
export function bookWaiting(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    await planAnew(tx);
    const rows = await tx.rows<{ id: string }>(takeBookable);
    await bookOrders(
      tx,
      rows.map((row) => row.id),
    );
    return rows.length === batchSize;
  });
}
