import { type Currency, publicId, uuidv7 } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { notFound, Unprocessable } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { refuseUnsellable, SellableProducts } from '../catalogue/sellable-products.js';
import { priceServices, type PricedService } from './rate-cards.js';
import { parcelWeightGrams } from './rate.rules.js';
import type { QuoteItemDto, QuoteRatesDto } from './shipping.dto.js';
import type { ShippingRateView } from './shipping.shapes.js';

const heaviestParcelGrams = 100_000_000; // 100 t: more than an order of 100 lines of 1000 can weigh

const keepQuotes = statement(
  'shipping.keep-quotes',
  `INSERT INTO quotes (id, creator_id, service_id, country_code, currency, amount, weight_grams, expires_at)
   SELECT id, $4, service_id, $5, $6, amount, $7, now() + interval '24 hours'
   FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS quote (id, service_id, amount)`,
);

/** Prices a parcel with every service that takes it, and keeps each price for 24 hours so that an order can hold us to it. */
@Injectable()
export class QuoteRates {
  constructor(
    private readonly database: Database,
    private readonly products: SellableProducts,
  ) {}

  async run(
    who: Caller,
    { country_code: countryCode, items = [] }: QuoteRatesDto,
    currency: Currency,
  ): Promise<{ data: ShippingRateView[] }> {
    const creatorId = who.creatorId ?? notFound('connected creator');
    const weightGrams = items.length === 0 ? undefined : await this.weigh(creatorId, items, currency);
    const services = await priceServices(this.database, { countryCode, currency, weightGrams });
    if (services.length === 0 && items.length > 0) {
      throw new Unprocessable(
        'No shipping service takes these items to this country.',
        items.map((_, index) => ({ field: `items.${index}.sku`, reason: 'not_shippable_to_country' })),
      );
    }
    return { data: await this.keep(services, { creatorId, countryCode, currency, weightGrams }) };
  }

  private async weigh(
    creatorId: string,
    items: readonly QuoteItemDto[],
    currency: Currency,
  ): Promise<number> {
    const products = await this.products.bySku(creatorId, items, currency);
    const weightGrams = parcelWeightGrams(refuseUnsellable(items, products, { fromStock: false }));
    if (weightGrams <= heaviestParcelGrams) return weightGrams;
    throw new Unprocessable('No shipping service takes so heavy a parcel.', [
      { field: 'items', reason: 'too_heavy' },
    ]);
  }

  private async keep(
    services: readonly PricedService[],
    parcel: { creatorId: string; countryCode: string; currency: Currency; weightGrams: number | undefined },
  ): Promise<ShippingRateView[]> {
    if (services.length === 0) return [];
    const ids = services.map(() => uuidv7());
    await this.database.run(keepQuotes, [
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
