import { publicId } from '@fulfilment/contracts';
import { BenchDatabase } from '../bench-database.ts';
import { creatorId } from './shop-data.ts';

const insertOrders = `
  WITH placed AS (
    INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count, shipping_rate_id,
                        shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount, charged_at)
    SELECT gen_random_uuid(), '${creatorId}', 'app', 'processing', 'shop', 'store-1', 'external-' || n, 'GBP', 7847, 3, 'rate', 350,
           '{"full_name": "Aiko Mori", "address_line_1": "1 Quay Street", "city": "London", "postal_code": "N1 1AA", "country_code": "GB"}',
           'GB', 'card', 'paid', 7847, now()
    FROM generate_series(1, $1::int) AS n RETURNING id),
  product AS (SELECT id, release_id FROM products LIMIT 1),
  items AS (
    INSERT INTO order_items (order_id, position, id, product_id, release_id, title, release_title, product_type, quantity, unit_amount, royalty_rate)
    SELECT placed.id, line, gen_random_uuid(), product.id, product.release_id, 'A title', 'Release 1', 'vinyl_12_lp', line, 2499, 1500
    FROM placed CROSS JOIN product CROSS JOIN generate_series(1, 2) AS line)
  SELECT id FROM placed`;
const limitProducts = `
  UPDATE products SET limited_edition = true, quantity = 1000000, stock_set_at = now() - interval '1 day' RETURNING id`;
const countApplied = `SELECT count(*)::int AS count FROM inbox WHERE outcome = 'applied'`;
const readApplied = `SELECT 1 FROM inbox WHERE message_id = $1 AND outcome = 'applied'`;

/** The orders and limited editions of a Store API under measurement. */
export class WarehouseData extends BenchDatabase {
  /** Adds paid orders of two lines. @returns their public ids */
  async addOrders(count: number): Promise<string[]> {
    const { rows } = await this.client.query<{ id: string }>(insertOrders, [count]);
    await this.client.query('VACUUM ANALYZE orders, order_items');
    return rows.map(({ id }) => publicId('ord', id));
  }

  /** Makes all products limited editions with an earlier stock count. @returns their public ids */
  async limitProducts(): Promise<string[]> {
    const { rows } = await this.client.query<{ id: string }>(limitProducts);
    return rows.map(({ id }) => publicId('prod', id));
  }

  /** Resets the number of applied messages to zero. */
  async clearInbox(): Promise<void> {
    await this.client.query('TRUNCATE inbox');
  }

  async countApplied(): Promise<number> {
    const { rows } = await this.client.query<{ count: number }>(countApplied);
    return rows[0]?.count ?? 0;
  }

  async isApplied(messageId: string): Promise<boolean> {
    return (await this.client.query(readApplied, [messageId])).rowCount === 1;
  }
}
