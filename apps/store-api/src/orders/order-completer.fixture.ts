import { statement } from '@fulfilment/database';

/**
 * Copies the only order of a creator; the copies are due and their charges pending. $1: the creator, $2: the
 * number of copies, $3: their payment method.
 */
export const copyAsPending = statement(
  'test.copy-as-pending',
  `WITH copies AS (
     INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count, shipping_rate_id,
                         shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount, resume_at, resume_tries)
     SELECT gen_random_uuid(), creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count, shipping_rate_id,
            shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount,
            now() - interval '1 minute', resume_tries
     FROM orders, generate_series(1, $2) WHERE creator_id = $1
     RETURNING id, charge_amount, currency
   )
   INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status)
   SELECT gen_random_uuid(), id, 1, charge_amount, currency, $3, 'pending' FROM copies`,
);
