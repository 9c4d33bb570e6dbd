import { messages, uuidv7 } from '@fulfilment/contracts';
import { Database, statement, pipelined, type Transaction } from '@fulfilment/database';
import { DependencyUnavailable, Unprocessable } from '@fulfilment/error-envelope';
import { keyInUse } from '@fulfilment/http-service';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { BecameLimited, Stock } from '../../catalogue/stock/stock.js';
import { CONFIG, type StoreApiSettings } from '../../config.js';
import { FaultPoints } from '../../fault-points.js';
import { IdempotencyKeys } from '../idempotency-keys.js';
import { insertOrder, type InsertOutcome, newItemRow, type NewOrder, newOrderRow } from './new-order.js';
import { orderSnapshot } from '../order-row.js';
import type { Placement } from './placement.js';
import type { PricedOrder } from '../pricing/price-order.js';

/** Time for the request to settle the order, after the provider's timeout. */
const settleTimeoutMs = 2_000;
/** Time for finding the order after a lost connection. A crashed PostgreSQL has usually restarted by then. */
const findOrderTimeoutMs = 8_000;
const retryDelayMs = 50;

const findOrder = statement('orders.find', 'SELECT id FROM orders WHERE id = $1');

/** Writes a new order in one commit: its stock, its rows, its first charge and `order.created`. */
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
  async run(placement: Placement, priced: PricedOrder): Promise<NewOrder> {
    const order = this.newOrder(placement, priced);
    const limitedLines = priced.lines.filter(({ limitedEdition }) => limitedEdition);
    try {
      // `insertOrder` is one statement: only stock to take needs a transaction.
      if (limitedLines.length === 0) requireInserted(await insertOrder(this.database, order));
      else {
        await this.database.transaction(async (tx) => {
          await pipelined([
            insertOrder(tx, order).then(requireInserted),
            this.takeStock(tx, placement, limitedLines),
          ]);
          this.faultPoints.pass('order-written');
        });
      }
    } catch (error) {
      if (!(error instanceof DependencyUnavailable)) throw error;
      // The connection was lost, perhaps after the commit.
      const isCommitted = await this.releaseKeyAndFindOrder(placement);
      if (!isCommitted) throw error;
    }
    this.outbox.wakeRelay();
    return order;
  }

  /**
   * Returns whether the order is committed. If not, it never will be, since its statement needs the key.
   * Retries both steps until they succeed.
   * @throws the last error after `findOrderTimeoutMs`
   */
  private async releaseKeyAndFindOrder({ keyScope, orderId }: Placement): Promise<boolean> {
    const endsAtMs = performance.now() + findOrderTimeoutMs;
    for (;;) {
      try {
        // Waits for a commit in progress. Does not release the key of an order that is committed.
        await this.keys.release(keyScope, orderId);
        return (await this.database.row(findOrder, [orderId])) !== undefined;
      } catch (error) {
        if (performance.now() > endsAtMs) throw error;
        await delay(retryDelayMs);
      }
    }
  }

  private newOrder(placement: Placement, priced: PricedOrder): NewOrder {
    const { PAYMENT_TIMEOUT_MS: paymentTimeoutMs, RESUME_AFTER_MS: resumeDelayMs } = this.config;
    const { order, orderId, keyScope } = placement;
    const row = newOrderRow(placement, priced);
    const items = priced.lines.map(newItemRow);
    return {
      row,
      items,
      createdAtMs: performance.now(),
      rateId: order.shipping_rate_id,
      address: order.shipping_address,
      charge: {
        id: uuidv7(),
        orderId,
        amount: { amount: priced.cost, currency: priced.currency },
        paymentMethod: priced.paymentMethod,
        reference: null,
        createdAt: row.created_at,
        isFirstRequest: true,
        isTest: row.test,
      },
      event: messages.orderCreated.make({ order: orderSnapshot(row, items) }, { occurredAt: this.clock() }),
      resumeAfterMs: paymentTimeoutMs + resumeDelayMs,
      unlimitedProducts: [
        ...new Set(priced.lines.flatMap(({ id, limitedEdition }) => (limitedEdition ? [] : [id]))),
      ],
      key: keyScope.key,
      keyLeaseMs: paymentTimeoutMs + settleTimeoutMs,
    };
  }

  /** @throws Unprocessable with one detail per line with too few pieces in stock */
  private async takeStock(
    tx: Transaction,
    { orderId, order }: Placement,
    limitedLines: PricedOrder['lines'],
  ): Promise<void> {
    const outOfStock = new Set(
      await this.stock.take(
        tx,
        orderId,
        limitedLines.map(({ id, quantity }) => ({ productId: id, quantity })),
      ),
    );
    if (outOfStock.size === 0) return;
    const skus = new Set(limitedLines.flatMap(({ id, sku }) => (outOfStock.has(id) ? [sku] : [])));
    const details = order.items.flatMap(({ sku }, index) =>
      skus.has(sku) ? [{ field: `items.${index}.sku`, reason: 'insufficient_stock' }] : [],
    );
    throw new Unprocessable('Some items are sold out.', details);
  }
}

function requireInserted({ inserted, unlimited }: InsertOutcome): void {
  if (!unlimited) throw new BecameLimited();
  if (!inserted) throw keyInUse(); // another request has claimed the key
}
