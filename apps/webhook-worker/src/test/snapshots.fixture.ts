import { type OrderSnapshot, type ProductSnapshot, uuidv7 } from '@fulfilment/contracts';

/** Returns an order snapshot. */
export function anOrder(creatorId: string, changes: Partial<OrderSnapshot> = {}): OrderSnapshot {
  return {
    id: uuidv7(),
    version: 1,
    creator_id: creatorId,
    status: 'pending',
    source: { platform: 'shop', store_id: 'store-1', external_order_id: '1001' },
    placed_at: '2026-11-01T12:00:00.000Z',
    updated_at: '2026-11-01T12:00:00.000Z',
    currency: 'GBP',
    country_code: 'GB',
    total_amount: 5348,
    shipping_amount: 350,
    item_count: 2,
    payment: { method: 'card', status: 'pending', charged_at: null, refunded_at: null },
    tracking: null,
    delivered_at: null,
    items: [
      {
        id: uuidv7(),
        product_id: uuidv7(),
        release_id: uuidv7(),
        release_title: 'Tidal Maps',
        product_type: 'vinyl_12_lp',
        ean: null,
        quantity: 2,
        unit_amount: 2499,
        royalty_rate: 1500,
      },
    ],
    ...changes,
  };
}

/** Returns a product snapshot. */
export function aProduct(creatorId: string): ProductSnapshot {
  return {
    id: uuidv7(),
    version: 3,
    release_id: uuidv7(),
    creator_id: creatorId,
    title: 'Tidal Maps',
    product_type: 'vinyl_12_lp',
    ean: null,
    status: 'available',
    limited_edition: true,
    quantity: 4,
    updated_at: '2026-11-20T10:00:00.000Z',
  };
}
