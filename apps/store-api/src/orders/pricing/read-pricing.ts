import { parsePublicId, publicId } from '@fulfilment/contracts';
import { BatchLoader, Database, JsonRows, statement } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';
import type { Billing } from '../../billing/payment-methods.js';
import { type SellableProduct, sellableColumns, sellableTables } from '../../catalogue/sellable-products.js';
import { bandsSql } from '../../shipping/rate-cards.js';
import type { WeightBand } from '../../shipping/rate.rules.js';
import type { Quote } from '../../shipping/sealed-quotes.js';

/** The data that an order is priced by, all read at one time. */
interface PricingData {
  /** Null for an unknown creator. */
  readonly billing: Billing | null;
  /** The requested products of the creator, by sku. */
  readonly products: ReadonlyMap<string, SellableProduct>;
  /** Current prices of the quoted service to the country; null when it no longer ships there. */
  readonly bands: readonly WeightBand[] | null;
  /** Time of PostgreSQL's clock. */
  readonly readAt: Date;
}

interface PricingRow extends Omit<PricingData, 'products'> {
  readonly products: readonly SellableProduct[] | null;
}

/** The request for the data of an order. */
interface PricingKey {
  readonly creator_id: string;
  readonly product_ids: readonly string[];
  readonly service_id: string;
  readonly country_code: string;
  readonly currency: string;
}

const requested = new JsonRows<PricingKey>('requested', {
  creator_id: 'uuid',
  product_ids: 'uuid[]',
  service_id: 'uuid',
  country_code: 'text',
  currency: 'text',
});

export const readPricing = statement(
  'orders.pricing',
  `SELECT requested.index, now() AS "readAt",
          (SELECT json_build_object('paymentMethod', payment_method, 'termsAccepted', payment_terms_accepted, 'isTest', test)
           FROM creators WHERE id = requested.creator_id) AS billing,
          (SELECT json_agg(product) FROM (
             SELECT ${sellableColumns('requested.currency')} FROM ${sellableTables}
             WHERE p.id = ANY(requested.product_ids) AND p.creator_id = requested.creator_id) AS product) AS products,
          ${bandsSql('requested.service_id', 'requested.country_code', 'requested.currency')} AS bands
   FROM ${requested.table()}`,
);

/**
 * Reads the data that an order is priced by. Concurrent orders share a round trip; those that need the same
 * data share a row.
 */
@Injectable()
export class ReadPricing {
  private readonly rows: BatchLoader<PricingKey, PricingRow>;

  constructor(private readonly database: Database) {
    this.rows = new BatchLoader({
      run: (keys) => this.loadBatch(keys),
      maxConcurrent: 2,
      dedupeKey: (key) => JSON.stringify(key),
    });
  }

  async run(creatorId: string, skus: readonly string[], quote: Quote): Promise<PricingData> {
    const row = await this.rows.load({
      creator_id: creatorId,
      product_ids: [...new Set(skus.flatMap((sku) => parsePublicId('prod', sku) ?? []))],
      service_id: quote.serviceId,
      country_code: quote.countryCode,
      currency: quote.currency,
    });
    if (row === undefined) throw new Error('PostgreSQL returned no row for an order.');
    return {
      ...row,
      products: new Map((row.products ?? []).map((product) => [publicId('prod', product.id), product])),
    };
  }

  private async loadBatch(keys: readonly PricingKey[]): Promise<{ index: number; row: PricingRow }[]> {
    const values = requested.values(keys);
    const rows = await this.database.rows<PricingRow & { readonly index: number }>(readPricing, values);
    return rows.map(({ index, ...row }) => ({ index, row }));
  }
}
