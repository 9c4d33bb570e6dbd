import type { Currency } from '@fulfilment/contracts';
import { throwNotFound, Unprocessable } from '@fulfilment/error-envelope';
import { Injectable } from '@nestjs/common';
import { requireChargeable } from '../../billing/payment-methods.js';
import {
  type RequestedItem,
  requireSellableLines,
  type SellableLine,
} from '../../catalogue/sellable-products.js';
import { requireUsableQuote, shippingPrice } from '../../shipping/quote.rules.js';
import { SealedQuotes } from '../../shipping/sealed-quotes.js';
import { currencyMismatchDetails, sumWithShipping } from '../order.rules.js';
import type { OrderItemDto, PlaceOrderDto } from '../place-order.dto.js';
import { ReadPricing } from './read-pricing.js';

/** The cost of an order for the creator. Amounts are in minor units. */
interface OrderCost<Item extends RequestedItem> {
  readonly lines: readonly SellableLine<Item>[];
  readonly currency: Currency;
  readonly shippingAmount: number;
  /** Amount that the creator is charged. */
  readonly cost: number;
  readonly paymentMethod: string;
  /** Whether it is an order of a test creator. */
  readonly isTest: boolean;
  /** When the data were read, by PostgreSQL's clock. It becomes the time of placement. */
  readonly placedAt: Date;
}

/** An order with its prices, before it is written. */
export interface PricedOrder extends OrderCost<OrderItemDto> {
  /** Amount that the merchant's customer paid. */
  readonly total: number;
}

/** The members of an order that its cost depends on. */
interface OrderToPrice<Item extends RequestedItem> {
  readonly items: readonly (Item & { readonly unit_price?: { readonly currency: Currency } })[];
  readonly shipping_address: { readonly country_code: string };
  readonly shipping_rate_id: string;
}

/**
 * Prices an order by its quote and the catalogue. Checks the stock without taking it, so pieces may be gone
 * before the order is written.
 */
@Injectable()
export class PriceOrder {
  constructor(
    private readonly quotes: SealedQuotes,
    private readonly readPricing: ReadPricing,
  ) {}

  /**
   * @throws NotFound for an unknown rate or creator; Unprocessable when the order cannot be placed as it is
   */
  async run(creatorId: string, order: PlaceOrderDto): Promise<PricedOrder> {
    const priced = await this.computeCost(creatorId, order);
    const total = sumWithShipping(
      priced.lines.map(({ unit_price, quantity }) => ({ price: unit_price.amount, quantity })),
      priced.shippingAmount,
    );
    return { ...priced, total: total ?? throwTooLarge() };
  }

  /** Returns the cost of an order. @throws as `run` */
  async computeCost<Item extends RequestedItem>(
    creatorId: string,
    order: OrderToPrice<Item>,
  ): Promise<OrderCost<Item>> {
    const quote = this.quotes.open(creatorId, order.shipping_rate_id) ?? throwNotFound('shipping rate');
    const { currency } = quote;
    const skus = order.items.map(({ sku }) => sku);
    const { billing, products, bands, readAt: placedAt } = await this.readPricing.run(creatorId, skus, quote);
    const { paymentMethod, isTest } = requireChargeable(billing);
    requireUsableQuote(quote, order.shipping_address.country_code, placedAt);
    const mismatches = currencyMismatchDetails(order.items, currency);
    if (mismatches.length > 0)
      throw new Unprocessable('All items must have the currency of the shipping rate.', mismatches);
    const lines = requireSellableLines(order.items, products, { checkStock: true });
    const shippingAmount = shippingPrice(quote, bands, lines);
    const cost = sumWithShipping(lines, shippingAmount);
    return {
      lines,
      currency,
      shippingAmount,
      cost: cost ?? throwTooLarge(),
      paymentMethod,
      isTest,
      placedAt,
    };
  }
}

function throwTooLarge(): never {
  throw new Unprocessable('The total of the order is too large.', [
    { field: 'items', reason: 'total_too_large' },
  ]);
}
