import { z } from 'zod';
import { uuid } from '../ids.js';
import { catalogueStatuses } from '../states.js';
import { defineMessage } from './message.js';

/** A product at the time of the message; `version` only increases. */
export const productSnapshot = z.object({
  id: uuid,
  version: z.int().min(1),
  release_id: uuid,
  creator_id: uuid,
  title: z.string(),
  product_type: z.string(),
  ean: z.string().nullable(),
  status: z.enum(catalogueStatuses),
  limited_edition: z.boolean(),
  /** Pieces left of a limited edition, else null. */
  quantity: z.int().min(0).nullable(),
  updated_at: z.iso.datetime(),
});
export type ProductSnapshot = z.infer<typeof productSnapshot>;

const productData = z.object({ product: productSnapshot });
const stockData = z.object({
  product: productSnapshot,
  /** Null if the product was not a limited edition before. */
  previous_quantity: z.int().min(0).nullable(),
});

export const productMessages = {
  productAvailable: defineMessage('product.available', 'A product became purchasable.', productData),
  productUnavailable: defineMessage(
    'product.unavailable',
    'A product is no longer purchasable.',
    productData,
  ),
  productInventoryChanged: defineMessage(
    'product.inventory_changed',
    'The stock of a limited edition changed.',
    stockData,
  ),
  productInStock: defineMessage(
    'product.in_stock',
    'A limited edition went from sold out to in stock.',
    productData,
  ),
  productOutOfStock: defineMessage('product.out_of_stock', 'A limited edition sold out.', productData),
} as const;
