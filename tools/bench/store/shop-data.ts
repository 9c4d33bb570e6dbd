import { publicId } from '@fulfilment/contracts';
import { BenchDatabase } from '../bench-database.ts';

/** Ids of the catalogue and orders that `Shop.addCatalogue` adds. */
export interface ShopData {
  readonly creatorId: string;
  /** UUIDs of the two products. */
  readonly productUuids: { readonly unlimited: string; readonly limited: string };
  /** SKU of the unlimited product. */
  readonly sku: string;
  /** SKU of the limited edition, which has so many pieces that it does not sell out. */
  readonly limitedSku: string;
  /** UUIDs of orders. */
  readonly orderIds: readonly string[];
}

export const creatorId = '01900000-0000-7000-8000-000000000001';
const productId = '01900000-0000-7000-8000-00000000000a';
const limitedId = '01900000-0000-7000-8000-00000000000b';
const serviceId = '01900000-0000-7000-8000-00000000000c';
/** A shipping rate id of the length of a sealed quote, for the bare server, which does not check it. */
export const rateId = `rate_${'x'.repeat(76)}`;
const orderCount = 1000;
const ordersAtOnce = 1_000_000;
const limitedPieceCount = 1_000_000_000;

const insertCatalogue = `
  INSERT INTO creators (id, version, organisation_id, name, payment_method, payment_terms_accepted, tax_interview_completed, registered_at)
  VALUES ('${creatorId}', 1, 'org_bench', 'Bench', 'pm_ok', true, true, now());

  INSERT INTO product_types (product_type, title, weight_grams, lead_time_days, royalty_rate, price_gbp, price_usd, price_eur, price_jpy)
  VALUES ('vinyl_12_lp', '12" LP', 500, 10, 1500, 2499, 2999, 2899, 4800);

  INSERT INTO releases (id, creator_id, name, artist_name, search_text, created_at)
  SELECT gen_random_uuid(), '${creatorId}', 'Release ' || n, 'Harbour Lights', 'release ' || n || ' harbour lights', now() - n * interval '1 minute'
  FROM generate_series(1, 200) AS n;

  INSERT INTO products (id, release_id, creator_id, position, title, product_type, status, lead_time_days, royalty_rate,
                        price_gbp, price_usd, price_eur, price_jpy)
  SELECT gen_random_uuid(), releases.id, creator_id, n, name || ' ' || n, 'vinyl_12_lp', 'available', 10, 1500, 2499, 2999, 2899, 4800
  FROM releases CROSS JOIN generate_series(1, 3) AS n;

  INSERT INTO products (id, release_id, creator_id, position, title, product_type, status, lead_time_days, royalty_rate,
                        price_gbp, price_usd, price_eur, price_jpy, limited_edition, quantity)
  SELECT product.id, release.id, '${creatorId}', 4, 'Product', 'vinyl_12_lp', 'available', 10, 1500, 2499, 2999, 2899, 4800, product.limited, product.quantity
  FROM (VALUES ('${productId}'::uuid, false, NULL::int), ('${limitedId}'::uuid, true, ${limitedPieceCount})) AS product (id, limited, quantity)
  CROSS JOIN LATERAL (SELECT id FROM releases LIMIT 1) AS release;

  INSERT INTO shipping_zone_countries (country_code, zone) VALUES ('GB', 'uk');
  INSERT INTO shipping_services (id, name, carriers, position) VALUES ('${serviceId}', 'Tracked', '{Royal Mail}', 1);
  INSERT INTO rate_cards (service_id, zone, currency, max_weight_grams, amount, extra_500g_amount)
  VALUES ('${serviceId}', 'uk', 'GBP', 2000, 350, 100);
`;

/**
 * Orders at intervals of a second.
 * $1 number of orders, $2 age of the newest order in seconds, $3 whether they have lines, $4 status of all of
 * them, or NULL for a mix of three
 */
const insertOrders = `
  WITH placed AS (
    INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count, shipping_rate_id,
                        shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount, charged_at, created_at)
    SELECT gen_random_uuid(), '${creatorId}', 'app', coalesce($4, CASE n % 3 WHEN 0 THEN 'shipped' WHEN 1 THEN 'processing' ELSE 'delivered' END),
           CASE n % 2 WHEN 0 THEN 'shop' ELSE 'api' END, 'store-' || n % 7, 'external-' || n, 'GBP', 7847, 3, '${rateId}', 350,
           '{"full_name": "Aiko Mori", "address_line_1": "1 Quay Street", "city": "London", "postal_code": "N1 1AA", "country_code": "GB"}',
           'GB', 'card', 'paid', 7847, now(), now() - (n + $2::int) * interval '1 second'
    FROM generate_series(1, $1::int) AS n RETURNING id)
  INSERT INTO order_items (order_id, position, id, product_id, release_id, title, release_title, product_type, quantity, unit_amount, royalty_rate)
  SELECT placed.id, line, gen_random_uuid(), '${productId}', '${productId}', 'Product', 'Release 1', 'vinyl_12_lp', line, 2499, 1500
  FROM placed CROSS JOIN generate_series(1, 2) AS line WHERE $3
  RETURNING order_id`;

const makeProductsLimited = `
  UPDATE products SET limited_edition = true, quantity = 1000000, stock_set_at = now() - interval '1 day' RETURNING id`;

/** The database of a Store API or bare server under measurement. */
export class Shop extends BenchDatabase {
  /** Adds a catalogue and 1000 orders. */
  async addCatalogue(): Promise<ShopData> {
    await this.client.query(insertCatalogue);
    const { rows } = await this.client.query<{ order_id: string }>(insertOrders, [orderCount, 0, true, null]);
    await this.vacuum();
    return {
      creatorId,
      productUuids: { unlimited: productId, limited: limitedId },
      sku: publicId('prod', productId),
      limitedSku: publicId('prod', limitedId),
      orderIds: [...new Set(rows.map((row) => row.order_id))],
    };
  }

  /** Adds older orders without lines, for lists, at intervals of a second. */
  async addOlderOrders(count: number): Promise<void> {
    for (let from = 0; from < count; from += ordersAtOnce) {
      const batch = Math.min(ordersAtOnce, count - from);
      await this.client.query(insertOrders, [batch, orderCount + from, false, null]);
    }
    await this.vacuum();
  }

  /** Adds paid orders that the warehouse has not shipped. @returns their public ids */
  async addUnshippedOrders(count: number): Promise<string[]> {
    const { rows } = await this.client.query<{ order_id: string }>(insertOrders, [
      count,
      0,
      true,
      'processing',
    ]);
    await this.vacuum();
    return [...new Set(rows.map((row) => publicId('ord', row.order_id)))];
  }

  /** Makes all products limited editions with an earlier stock count. @returns their public ids */
  async limitProducts(): Promise<string[]> {
    const { rows } = await this.client.query<{ id: string }>(makeProductsLimited);
    return rows.map(({ id }) => publicId('prod', id));
  }

  /** Resets the number of applied messages to zero. */
  async clearInbox(): Promise<void> {
    await this.client.query('TRUNCATE inbox');
  }

  /** Returns by how many pieces the stock of the limited edition fell, and how many the orders took. */
  async readLimitedStock(): Promise<{ missing: number; taken: number }> {
    const { rows } = await this.client.query<{ missing: number; taken: number }>(
      `SELECT ${limitedPieceCount} - quantity AS missing,
              (SELECT coalesce(sum(quantity), 0)::int FROM stock_movements WHERE product_id = products.id) AS taken
       FROM products WHERE id = $1`,
      [limitedId],
    );
    return rows[0] ?? { missing: Number.NaN, taken: Number.NaN };
  }
}
