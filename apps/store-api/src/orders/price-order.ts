import { type Currency, parsePublicId } from '@fulfilment/contracts';
import { allInOrder } from '@fulfilment/database';
import { throwNotFound, Unprocessable } from '@fulfilment/error-envelope';
import { Injectable } from '@nestjs/common';
import { requireSellableLines, type SellableLine, SellableProducts } from '../catalogue/sellable-products.js';
import { ShippingQuotes } from '../shipping/shipping-quotes.js';
import { currencyMismatchDetails, orderTotal } from './order.rules.js';
import { PaymentMethods } from '../billing/payment-methods.js';
import type { OrderItemDto } from './place-order.dto.js';
import type { Placement } from './placement.js';

/** An order with its prices, before it is written. Amounts are in minor units. */
export interface PricedOrder {
  readonly rateId: string;
  readonly lines: readonly SellableLine<OrderItemDto>[];
  readonly currency: Currency;
  readonly shippingAmount: number;
  /** What the merchant's customer paid. */
  readonly total: number;
  /** What the creator is charged. */
  readonly cost: number;
  readonly paymentMethod: string;
  /** By PostgreSQL's clock. */
  readonly placedAt: Date;
}

/**
 * Prices an order by its quote and the catalogue. Stock is only checked here: it may be gone before the order
 * is written.
 */
@Injectable()
export class PriceOrder {
  constructor(
    private readonly shippingQuotes: ShippingQuotes,
    private readonly products: SellableProducts,
    private readonly paymentMethods: PaymentMethods,
  ) {}

  /** @throws NotFound for an unknown rate; Unprocessable when the order cannot be placed as it is */
  async run({ creatorId, order }: Placement): Promise<PricedOrder> {
    const rateId = parsePublicId('rate', order.shipping_rate_id) ?? throwNotFound('shipping rate');
    // Prices are read in the currency of the first line; a quote in another currency is rejected below.
    const lineCurrency = order.items[0]?.unit_price.currency ?? 'GBP';
    const [quote, paymentMethod, products] = await allInOrder([
      this.shippingQuotes.find(creatorId, rateId),
      this.paymentMethods.forCreator(creatorId),
      this.products.bySku(creatorId, order.items, lineCurrency),
    ]);
    this.shippingQuotes.assertUsable(quote, order.shipping_address.country_code);
    const { currency, readAt: placedAt } = quote;
    const mismatches = currencyMismatchDetails(order.items, currency);
    if (mismatches.length > 0)
      throw new Unprocessable('All items must have the currency of the shipping rate.', mismatches);
    const lines = requireSellableLines(order.items, products, { checkStock: true });
    const shippingAmount = this.shippingQuotes.price(quote, lines);
    const total = orderTotal(
      lines.map(({ unit_price, quantity }) => ({ price: unit_price.amount, quantity })),
      shippingAmount,
    );
    // An available product has a price in every currency (a constraint of `products`).
    const cost = orderTotal(
      lines.map(({ price, quantity }) => ({ price: price ?? 0, quantity })),
      shippingAmount,
    );
    if (total === undefined || cost === undefined) {
      throw new Unprocessable('The total of the order is too large.', [
        { field: 'items', reason: 'total_too_large' },
      ]);
    }
    return { rateId, lines, currency, shippingAmount, total, cost, paymentMethod, placedAt };
  }
}
