import { messages, uuidv7 } from '@fulfilment/contracts';
import { Database, statement, allInOrder, type Transaction } from '@fulfilment/database';
import { Unprocessable } from '@fulfilment/error-envelope';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { Stock } from '../catalogue/stock.js';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { FaultPoints } from '../fault-points.js';
import { insertOrder, newItem, newOrder } from './new-order.js';
import type { OpenCharge } from '../payments/payment-gateway.js';
import { orderSnapshot } from './order-row.js';
import type { Placement } from './placement.js';
import type { PricedOrder } from './price-order.js';

/** Time for the request to settle the order, after the provider's timeout. */
const settleTimeoutMs = 2_000;

const findOrder = statement('orders.find', 'SELECT id FROM orders WHERE id = $1');

/** Writes a new order in one transaction: its stock, its rows, its first charge and `order.created`. */
@Injectable()
export class WriteOrder {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyKeys,
    private readonly stock: Stock,
    private readonly outbox: Outbox,
    private readonly faultPoints: FaultPoints,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
  ) {}

  /**
   * @throws BecameLimited when the order has to be priced again; Conflict when the claim of the key was lost
   */
  run(placement: Placement, priced: PricedOrder): Promise<OpenCharge> {
    return this.database.transaction(
      (tx) => this.write(tx, placement, priced),
      // If the connection is lost at COMMIT, this query shows whether the order was committed.
      { commitProbe: { statement: findOrder, values: [placement.orderId] } },
    );
  }

  private async write(tx: Transaction, placement: Placement, priced: PricedOrder): Promise<OpenCharge> {
    const { caller, order, orderId, keyScope } = placement;
    const { PAYMENT_TIMEOUT_MS: paymentTimeoutMs, RESUME_AFTER_MS: resumeAfterMs } = this.config;
    const row = newOrder(placement, priced);
    const items = priced.lines.map(newItem);
    const charge: OpenCharge = {
      id: uuidv7(),
      orderId,
      amount: { amount: priced.cost, currency: priced.currency },
      paymentMethod: priced.paymentMethod,
      reference: null,
      createdAt: row.created_at,
      isFirstRequest: true,
    };
    const created = messages.orderCreated.make(
      { order: orderSnapshot(row, items) },
      { occurredAt: this.clock() },
    );
    await allInOrder([
      keyScope && this.keys.attach(tx, keyScope, orderId, paymentTimeoutMs + settleTimeoutMs),
      insertOrder(tx, {
        row,
        clientId: caller.clientId,
        items,
        address: order.shipping_address,
        chargeId: charge.id,
        paymentMethod: priced.paymentMethod,
        resumeAfterMs: paymentTimeoutMs + resumeAfterMs,
      }),
      this.outbox.add(tx, created),
      this.stock.lockUnlimited(
        tx,
        priced.lines.flatMap(({ id, limitedEdition }) => (limitedEdition ? [] : [id])),
      ),
      this.takeStock(tx, placement, priced), // last, so that contended rows are locked for the shortest time
    ]);
    this.faultPoints.pass('order-written');
    return charge;
  }

  /** @throws Unprocessable with one detail per line with too few pieces in stock */
  private async takeStock(
    tx: Transaction,
    { orderId, order }: Placement,
    { lines }: PricedOrder,
  ): Promise<void> {
    const limited = lines.filter(({ limitedEdition }) => limitedEdition);
    const outOfStock = new Set(
      await this.stock.take(
        tx,
        orderId,
        limited.map(({ id, quantity }) => ({ productId: id, quantity })),
      ),
    );
    if (outOfStock.size === 0) return;
    const details = order.items.flatMap((_, index) =>
      outOfStock.has(lines[index]?.id ?? '')
        ? [{ field: `items.${index}.sku`, reason: 'insufficient_stock' }]
        : [],
    );
    throw new Unprocessable('Some items are sold out.', details);
  }
}
