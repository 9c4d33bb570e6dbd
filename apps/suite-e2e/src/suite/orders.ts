import { z } from 'zod';
import { type ApiClient, bodyOf } from './api-client.js';

export const address = {
  full_name: 'Aiko Mori',
  address_line_1: '1 Quay Street',
  city: 'London',
  postal_code: 'N1 1AA',
  country_code: 'GB',
};

export interface Line {
  readonly sku: string;
  readonly quantity: number;
}

const rateShape = z.object({ id: z.string(), price: z.object({ amount: z.number() }) });
/** The API returns the cheapest rate first. */
const ratesShape = z.object({ data: z.tuple([rateShape], rateShape) });

export const unitPrice = { amount: 2999, currency: 'GBP' };

/** Returns the cheapest shipping rate to the United Kingdom. */
export async function quote(
  store: ApiClient,
  items: readonly Line[],
): Promise<{ id: string; amount: number }> {
  const response = await store.post('/store/v1/shipping-rates', { country_code: 'GB', items }).expect(200);
  const [cheapest] = bodyOf(response, ratesShape).data;
  return { id: cheapest.id, amount: cheapest.price.amount };
}

export function orderBody(items: readonly Line[], rateId: string) {
  return {
    items: items.map((line) => ({ ...line, unit_price: unitPrice })),
    shipping_address: address,
    shipping_rate_id: rateId,
  };
}

/** Options of the operator command that ships an order. */
export const shipOptions = (trackingNumber: string) => [
  '--carrier',
  'Royal Mail',
  '--tracking-number',
  trackingNumber,
  '--tracking-url',
  `https://track.example/${trackingNumber}`,
];

/** Quotes and places an order; returns its id. */
export async function placeOrder(store: ApiClient, items: readonly Line[]): Promise<string> {
  const rate = await quote(store, items);
  const placed = await store.post('/store/v1/orders', orderBody(items, rate.id)).expect(201);
  return bodyOf(placed, z.object({ id: z.string() })).id;
}
