import { Database, statement } from '@fulfilment/database';
import { ResponseWithHeaders, type Caller, fingerprint, replayHeaders } from '@fulfilment/http-service';
import { Counter } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { ChargeOrder } from '../billing/charge-order.js';
import { openChargeColumns } from '../billing/open-charge.js';
import { BecameLimited } from '../catalogue/stock/stock.js';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { FaultPoints } from '../fault-points.js';
import type { OpenCharge } from '../payments/payment-gateway.js';
import { IdempotencyKeys, type StoredResponse } from './idempotency-keys.js';
import type { NewOrder } from './placing/new-order.js';
import type { PlaceOrderDto } from './place-order.dto.js';
import { preparePlacement, type Placement } from './placing/placement.js';
import { PriceOrder } from './pricing/price-order.js';
import { readCurrentResponse, SettleOrder } from './settling/settle-order.js';
import { WriteOrder } from './placing/write-order.js';

const readOpenCharge = statement(
  'orders.open-charge',
  `SELECT ${openChargeColumns} FROM charges c WHERE order_id = $1 AND status = 'pending'`,
);

const ordersPlaced = new Counter<'outcome'>({
  name: 'orders_placed_total',
  help: 'Orders placed, by the status in the response; pending orders are settled later.',
  labelNames: ['outcome'],
});

/**
 * Places an order in atomic phases: claim the key, price, write, charge, settle. No transaction is open while
 * the provider charges. When the process dies after the write, OrderCompleter continues; before it, no order
 * exists, and a repeated request may claim the key after its lease.
 */
@Injectable()
export class PlaceOrder {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyKeys,
    private readonly priceOrder: PriceOrder,
    private readonly writeOrder: WriteOrder,
    private readonly chargeOrder: ChargeOrder,
    private readonly settleOrder: SettleOrder,
    private readonly faultPoints: FaultPoints,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
  ) {}

  async run(
    caller: Caller,
    order: PlaceOrderDto,
    key?: string,
  ): Promise<ResponseWithHeaders<StoredResponse>> {
    const placement = preparePlacement(caller, order, key);
    const claim = await this.keys.claim(placement.keyScope, fingerprint(order), placement.orderId);
    if (claim.state === 'replayed') return this.respond(claim.response, replayHeaders);
    // An earlier request has used the key, so this is a replay, even if this request settles the order.
    if (claim.state === 'resumed') return this.respond(await this.resume(claim.orderId), replayHeaders);
    this.faultPoints.pass('key-claimed');
    const newOrder = await this.priceAndWrite(placement);
    this.faultPoints.pass('order-placed');
    return this.respond(await this.chargeAndSettle(newOrder.charge, newOrder));
  }

  private async priceAndWrite(placement: Placement): Promise<NewOrder> {
    try {
      const priced = await this.priceOrder.run(placement.creatorId, placement.order);
      return await this.writeOrder.run(placement, priced);
    } catch (error) {
      // A product became a limited edition after the order was priced. That happens at most once per product,
      // so the recursion ends.
      if (error instanceof BecameLimited) return this.priceAndWrite(placement);
      // Lets a repeated request claim the key immediately. Does nothing if the order was written after all.
      await this.keys.release(placement.keyScope, placement.orderId);
      throw error;
    }
  }

  private async chargeAndSettle(charge: OpenCharge, newOrder?: NewOrder): Promise<StoredResponse> {
    const outcome = await this.chargeOrder.run(this.database, charge, 'request');
    const placed = await this.settleOrder.run(this.database, charge, outcome, newOrder);
    ordersPlaced.inc({ outcome: placed.status });
    return placed;
  }

  /** Charges and settles an order whose first request died before that. */
  private async resume(orderId: string): Promise<StoredResponse> {
    const charge = await this.database.row<OpenCharge>(readOpenCharge, [orderId]);
    return charge === undefined ? readCurrentResponse(this.database, orderId) : this.chargeAndSettle(charge);
  }

  private respond(
    placed: StoredResponse,
    headers: Readonly<Record<string, string>> = {},
  ): ResponseWithHeaders<StoredResponse> {
    return new ResponseWithHeaders(placed, {
      Location: `${this.config.BASE_URL}/store/v1/orders/${placed.id}`,
      ...headers,
    });
  }
}
