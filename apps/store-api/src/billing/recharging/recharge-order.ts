import {
  type CatalogueStatus,
  type OrderStatus,
  parsePublicId,
  publicId,
  uuidv7,
} from '@fulfilment/contracts';
import { Database, statement, type Transaction } from '@fulfilment/database';
import { Conflict, throwNotFound, Unprocessable } from '@fulfilment/error-envelope';
import type { Stock } from '../../catalogue/stock/stock.js';
import type { ChargeStatus } from '../open-charge.js';
import { requirePaymentMethod } from '../payment-methods.js';

// Runs before `lockOrder`, in the lock order of the first stock count of a product, which locks the product
// FOR UPDATE and then the orders with it. KEY SHARE waits for that lock, but not for sales and returns.
const lockProducts = statement(
  'recharge.lock-products',
  `SELECT id FROM products WHERE id IN (SELECT product_id FROM order_items WHERE order_id = $1)
   ORDER BY limited_edition, id FOR KEY SHARE`,
);
const lockOrder = statement(
  'recharge.lock',
  `SELECT id, creator_id AS "creatorId", status, redacted_at IS NOT NULL AS redacted FROM orders WHERE id = $1 FOR UPDATE`,
);
const readAttempts = statement(
  'recharge.attempts',
  `SELECT max(attempt) AS last, bool_or(status = 'pending') AS "isPending" FROM charges WHERE order_id = $1`,
);
const readLines = statement(
  'recharge.lines',
  `SELECT i.product_id AS "productId", i.quantity, p.status, coalesce(p.limited_edition, false) AS "limitedEdition"
   FROM order_items i LEFT JOIN products p ON p.id = i.product_id WHERE i.order_id = $1`,
);
const insertCharge = statement(
  'recharge.insert',
  `INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status, test)
   SELECT $1, id, $3, charge_amount, currency, $4, 'pending', test FROM orders WHERE id = $2`,
);
const resumeNow = statement(
  'recharge.resume',
  'UPDATE orders SET resume_at = now(), resume_tries = 0 WHERE id = $1',
);
const readNewestCharge = statement(
  'recharge.newest-charge',
  `SELECT o.status, c.status AS charge, c.attempt FROM charges c JOIN orders o ON o.id = c.order_id
   WHERE o.id = $1 ORDER BY c.attempt DESC LIMIT 1`,
);

interface OrderLine {
  productId: string;
  quantity: number;
  status: CatalogueStatus | null;
  limitedEdition: boolean;
}

/** The newest charge of an order, as `order recharge` prints it. */
interface NewestCharge {
  /** Status of the order. */
  readonly status: OrderStatus;
  /** Status of the charge. */
  readonly charge: ChargeStatus;
  /** Number of the charge, from 1. */
  readonly attempt: number;
}

/**
 * Recharges an order whose payment failed, with the creator's current payment method and a new charge row.
 * One commit takes the stock and leaves the charge to the completer, which settles it like the first one. The
 * order stays `payment_failed` until the recharge succeeds.
 */
export class RechargeOrder {
  constructor(
    private readonly database: Database,
    private readonly stock: Stock,
  ) {}

  /**
   * @param order the public id
   * @throws NotFound, Conflict, Unprocessable when the order cannot be recharged; then nothing has changed
   */
  async run(order: string): Promise<void> {
    await this.database.transaction((tx) => this.begin(tx, toUuid(order)));
  }

  /** @param order the public id. @throws NotFound */
  async readNewestCharge(order: string): Promise<NewestCharge> {
    return (
      (await this.database.row<NewestCharge>(readNewestCharge, [toUuid(order)])) ?? throwNotFound('order')
    );
  }

  private async begin(tx: Transaction, orderId: string): Promise<void> {
    await tx.run(lockProducts, [orderId]);
    const order = await tx.row<{ creatorId: string; status: OrderStatus; redacted: boolean }>(lockOrder, [
      orderId,
    ]);
    if (order === undefined) return throwNotFound('order');
    if (order.status !== 'payment_failed')
      throw new Conflict(
        `The order is ${order.status}; only an order with a failed payment can be charged again.`,
        [{ field: 'status', reason: 'not_payment_failed' }],
      );
    if (order.redacted)
      throw new Conflict('The address of the order was redacted, so the order cannot be shipped.', [
        { field: 'shipping_address', reason: 'address_redacted' },
      ]);
    const attempts = await tx.row<{ last: number; isPending: boolean }>(readAttempts, [orderId]);
    if (attempts === undefined || attempts.isPending)
      throw new Conflict('A charge of the order is in progress.', [
        { field: 'billing', reason: 'charge_in_progress' },
      ]);
    const attempt = attempts.last + 1;
    const paymentMethod = await requirePaymentMethod(tx, order.creatorId);
    await this.takeStock(tx, orderId, attempt);
    await tx.run(insertCharge, [uuidv7(), orderId, attempt, paymentMethod]);
    await tx.run(resumeNow, [orderId]);
  }

  private async takeStock(tx: Transaction, orderId: string, attempt: number): Promise<void> {
    const lines = await tx.rows<OrderLine>(readLines, [orderId]);
    rejectIfAny(
      lines.filter(({ status }) => status !== 'available').map(({ productId }) => productId),
      'No longer available',
      'not_available',
    );
    const limited = lines.filter(({ limitedEdition }) => limitedEdition);
    rejectIfAny(
      await this.stock.take(tx, orderId, limited, attempt),
      'Not enough pieces in stock',
      'insufficient_stock',
    );
  }
}

function toUuid(order: string): string {
  return parsePublicId('ord', order) ?? throwNotFound('order');
}

function rejectIfAny(productIds: readonly string[], problem: string, reason: string): void {
  if (productIds.length === 0) return;
  const skus = [...new Set(productIds)].map((id) => publicId('prod', id));
  throw new Unprocessable(
    `${problem}: ${skus.join(', ')}.`,
    skus.map((sku) => ({ field: sku, reason })),
  );
}
