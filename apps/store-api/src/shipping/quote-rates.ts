import type { Currency } from '@fulfilment/contracts';
import { Database } from '@fulfilment/database';
import { throwNotFound, Unprocessable } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { requireSellableLines, SellableProducts } from '../catalogue/sellable-products.js';
import { priceServices } from './rate-cards.js';
import { parcelWeightGrams } from './rate.rules.js';
import { SealedQuotes } from './sealed-quotes.js';
import type { QuoteItemDto, QuoteRatesDto } from './shipping.dto.js';
import type { ShippingRateView } from './shipping.shapes.js';

/** 100 t: the weight of 100 lines of 1000 pieces of 1 kg. It fits into the four bytes of a quote. */
const maxParcelGrams = 100_000_000;

const validityMs = 24 * 3_600_000;

/** Prices a parcel with every service that ships it. Each price is a quote that is valid for 24 hours. */
@Injectable()
export class QuoteRates {
  constructor(
    private readonly database: Database,
    private readonly products: SellableProducts,
    private readonly quotes: SealedQuotes,
  ) {}

  async run(
    caller: Caller,
    { country_code: countryCode, items = [] }: QuoteRatesDto,
    currency: Currency,
  ): Promise<{ data: ShippingRateView[] }> {
    const creatorId = caller.creatorId ?? throwNotFound('connected creator');
    const weightGrams = items.length === 0 ? undefined : await this.weigh(creatorId, items, currency);
    const services = await priceServices(this.database, { countryCode, currency, weightGrams });
    if (services.length === 0 && items.length > 0) {
      throw new Unprocessable(
        'No shipping service ships these items to this country.',
        items.map((_, index) => ({ field: `items.${index}.sku`, reason: 'not_shippable_to_country' })),
      );
    }
    return {
      data: services.map(({ id: serviceId, name, carriers, description, deliveryDays, amount, pricedAt }) => {
        const expiresAt = new Date(pricedAt.getTime() + validityMs);
        const quote = { serviceId, countryCode, currency, amount, weightGrams, expiresAt };
        return {
          id: this.quotes.seal(creatorId, quote),
          name,
          carriers,
          description,
          price: { amount, currency },
          delivery_days: deliveryDays,
        };
      }),
    };
  }

  private async weigh(
    creatorId: string,
    items: readonly QuoteItemDto[],
    currency: Currency,
  ): Promise<number> {
    const products = await this.products.readBySku(creatorId, items, currency);
    const weightGrams = parcelWeightGrams(requireSellableLines(items, products, { checkStock: false }));
    if (weightGrams <= maxParcelGrams) return weightGrams;
    throw new Unprocessable('The parcel is too heavy for all shipping services.', [
      { field: 'items', reason: 'too_heavy' },
    ]);
  }
}
