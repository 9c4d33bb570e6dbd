import { nilUuid, publicId, uuidv7 } from '@fulfilment/contracts';
import { type Database, keysetPages, statement } from '@fulfilment/database';
import { Conflict, Unprocessable } from '@fulfilment/error-envelope';
import { timeArgument } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import type { RechargeOrder } from './recharge-order.js';

const pageSize = 500;

// Charges that were declined within the time range and are the newest of their order. The ids from $4 on are
// of recharges of this run: these may be declined within the range, if the clock of this machine is fast.
const readPage = statement(
  'recharge.declined',
  `SELECT c.id, c.order_id AS "orderId" FROM charges c JOIN orders o ON o.id = c.order_id
   WHERE c.id > $3 AND c.id < $4 AND c.status = 'declined' AND c.settled_at >= $1 AND c.settled_at < $2
     AND o.status = 'payment_failed'
     AND NOT EXISTS (SELECT FROM charges newer WHERE newer.order_id = c.order_id AND newer.attempt > c.attempt)
   ORDER BY c.id LIMIT ${pageSize}`,
);

/** Operand and options of `order recharge`: one order, or a time range that has ended. */
export const rechargeOptions = z
  .object({
    ORDER: z.string().optional(),
    since: timeArgument.optional(),
    until: timeArgument.optional(),
  })
  .superRefine(({ ORDER, since, until }, context) => {
    const reject = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (ORDER === undefined && since === undefined) reject('ORDER', 'is missing');
    if (ORDER !== undefined && since !== undefined) reject('since', 'cannot be combined with an ORDER');
    if (until !== undefined && since === undefined) reject('until', 'needs --since');
    if (since !== undefined && since >= (until ?? new Date()))
      reject('since', 'must be before --until, which is by default the current time');
    // Otherwise a repeated run would find orders whose charges are declined after this run.
    if (until !== undefined && until > new Date()) reject('until', 'must not be in the future');
  });

/** The result of `rechargeOrders`. */
interface RechargedOrders {
  readonly since: string;
  readonly until: string;
  /** Number of recharges that were begun; the completer settles them. */
  readonly begun: number;
  /** Number of orders that cannot be recharged now, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
}

/**
 * Recharges every order whose newest charge was declined within the time range, which has ended. Each order
 * is one transaction, so an interrupted run can be repeated with the same range: the repetition leaves out
 * the orders that were recharged.
 */
export async function rechargeOrders(
  database: Database,
  rechargeOrder: RechargeOrder,
  { since, until }: { readonly since: Date; readonly until: Date },
): Promise<RechargedOrders> {
  const skipped: Record<string, number> = {};
  let begun = 0;
  const firstNewId = uuidv7();
  const pages = keysetPages<{ id: string; orderId: string }>(pageSize, (last) =>
    database.rows(readPage, [since, until, last?.id ?? nilUuid, firstNewId]),
  );
  for await (const page of pages)
    for (const { orderId } of page) {
      const problem = await tryRecharge(rechargeOrder, publicId('ord', orderId));
      if (problem === undefined) begun += 1;
      else skipped[problem] = (skipped[problem] ?? 0) + 1;
    }
  return { since: since.toISOString(), until: until.toISOString(), begun, skipped };
}

/** Returns the reason why the order cannot be recharged now, or undefined. */
async function tryRecharge(rechargeOrder: RechargeOrder, order: string): Promise<string | undefined> {
  try {
    await rechargeOrder.run(order);
    return undefined;
  } catch (error) {
    const isSkipped = error instanceof Conflict || error instanceof Unprocessable;
    const reason = isSkipped ? error.details?.[0]?.reason : undefined;
    if (reason === undefined) throw error;
    return reason;
  }
}
