import { type Sql, statement } from '@fulfilment/database';
import { unresponsivePaymentMethod } from '../../payments/stripe/fake-stripe.fixture.js';

/**
 * Returns SQL that inserts `:count` copies of an order of the creator `:model_id`, for `:creator_id`.
 * @param changedColumns arguments of jsonb_build_object; `n` is the number of the copy, from 1
 */
export const copyOrdersSql = (changedColumns: string): string => `
  INSERT INTO orders SELECT copy.*
  FROM orders AS model, generate_series(1, :count::int) AS n, jsonb_populate_record(model, jsonb_build_object(
    'id', gen_random_uuid(), 'creator_id', :creator_id::uuid, 'external_order_id', n, ${changedColumns})) AS copy
  WHERE model.id = (SELECT id FROM orders WHERE creator_id = :model_id::uuid LIMIT 1)`;

const insertPending = statement(
  'test.copy-as-pending',
  `WITH copies AS (
     ${copyOrdersSql(`'resume_at', now() - interval '1 minute'`)}
     RETURNING id, charge_amount, currency
   )
   INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status)
   SELECT gen_random_uuid(), id, 1, charge_amount, currency, :payment_method, 'pending' FROM copies`,
);

/** Copies the only order of a creator; the copies are due, and their charges pending without an outcome. */
export async function copyAsPending(sql: Sql, creatorId: string, count: number): Promise<void> {
  await sql.run(insertPending, {
    creator_id: creatorId,
    model_id: creatorId,
    count,
    payment_method: unresponsivePaymentMethod,
  });
}
