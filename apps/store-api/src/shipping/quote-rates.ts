import { type Currency, publicId, uuidv7 } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { throwNotFound, Unprocessable } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { requireSellableLines, SellableProducts } from '../catalogue/sellable-products.js';
import { priceServices, type PricedService } from './rate-cards.js';
import { parcelWeightGrams } from './rate.rules.js';
import type { QuoteItemDto, QuoteRatesDto } from './shipping.dto.js';
import type { ShippingRateView } from './shipping.shapes.js';

const maxParcelGrams = 100_000_000; // 100 t: more than an order of 100 lines of 1000 can weigh

const insertQuotes = statement(
  'shipping.insert-quotes',
  `INSERT INTO quotes (id, creator_id, service_id, country_code, currency, amount, weight_grams, expires_at)
   SELECT id, $4, service_id, $5, $6, amount, $7, now() + interval '24 hours'
   FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS quote (id, service_id, amount)`,
);

/** Prices a parcel with every service that ships it, and stores each price as a quote for 24 hours. */
@Injectable()
export class QuoteRates {
  constructor(
    private readonly database: Database,
    private readonly products: SellableProducts,
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
    return { data: await this.store(services, { creatorId, countryCode, currency, weightGrams }) };
  }

  private async weigh(
    creatorId: string,
    items: readonly QuoteItemDto[],
    currency: Currency,
  ): Promise<number> {
    const products = await this.products.bySku(creatorId, items, currency);
    const weightGrams = parcelWeightGrams(requireSellableLines(items, products, { checkStock: false }));
    if (weightGrams <= maxParcelGrams) return weightGrams;
    throw new Unprocessable('The parcel is too heavy for all shipping services.', [
      { field: 'items', reason: 'too_heavy' },
    ]);
  }

  private async store(
    services: readonly PricedService[],
    parcel: { creatorId: string; countryCode: string; currency: Currency; weightGrams: number | undefined },
  ): Promise<ShippingRateView[]> {
    if (services.length === 0) return [];
    const ids = services.map(() => uuidv7());
    await this.database.run(insertQuotes, [
      ids,
      services.map(({ id }) => id),
      services.map(({ amount }) => amount),
      parcel.creatorId,
      parcel.countryCode,
      parcel.currency,
      parcel.weightGrams ?? null,
    ]);
    return services.map(({ name, carriers, description, amount }, index) => ({
      id: publicId('rate', ids[index] ?? ''),
      name,
      carriers,
      description,
      price: { amount, currency: parcel.currency },
    }));
  }
}
