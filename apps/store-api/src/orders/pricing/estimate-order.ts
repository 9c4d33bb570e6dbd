import { publicId } from '@fulfilment/contracts';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { EstimateOrderDto } from './estimate-order.dto.js';
import type { OrderEstimate } from './estimate.shapes.js';
import { PriceOrder } from './price-order.js';

/** Computes the cost of an order for the creator as `POST /v1/orders` does, and writes nothing. */
@Injectable()
export class EstimateOrder {
  constructor(private readonly priceOrder: PriceOrder) {}

  /** @throws NotFound for an unknown rate or creator; Unprocessable for an order that could not be placed */
  async run(caller: Caller, order: EstimateOrderDto): Promise<OrderEstimate> {
    const creatorId = caller.creatorId ?? throwNotFound('connected creator');
    const { lines, currency, shippingAmount, cost } = await this.priceOrder.computeCost(creatorId, order);
    return {
      line_items: lines.map(({ id, title, quantity, price }) => ({
        sku: publicId('prod', id),
        title,
        quantity,
        unit_cost: { amount: price, currency },
        cost: { amount: price * quantity, currency },
      })),
      shipping: { rate_id: order.shipping_rate_id, amount: { amount: shippingAmount, currency } },
      cost: { amount: cost, currency },
      lead_time_days: Math.max(...lines.map(({ leadTimeDays }) => leadTimeDays)),
    };
  }
}
