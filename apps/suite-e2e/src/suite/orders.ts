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

const rate = z.object({ id: z.string(), price: z.object({ amount: z.number() }) });
const rates = z.object({ data: z.tuple([rate], rate) });

export const unitPrice = { amount: 2999, currency: 'GBP' };

/** Returns the cheapest shipping rate to the United Kingdom. */
export async function quote(
  store: ApiClient,
  items: readonly Line[],
): Promise<{ id: string; amount: number }> {
  const response = await store.post('/store/v1/shipping-rates', { country_code: 'GB', items }).expect(200);
  const [cheapest] = bodyOf(response, rates).data;
  return { id: cheapest.id, amount: cheapest.price.amount };
}

export function orderBody(items: readonly Line[], rateId: string) {
  return {
    items: items.map((line) => ({ ...line, unit_price: unitPrice })),
    shipping_address: address,
    shipping_rate_id: rateId,
  };
}

/** Arguments of the operator command that ships an order. */
export const packageArguments = (number: string) => [
  '--carrier',
  'Royal Mail',
  '--tracking-number',
  number,
  '--tracking-url',
  `https://track.example/${number}`,
];

/** Quotes and places an order; returns its id. */
export async function placeOrder(store: ApiClient, items: readonly Line[]): Promise<string> {
  const rate = await quote(store, items);
  const placed = await store.post('/store/v1/orders', orderBody(items, rate.id)).expect(201);
  return bodyOf(placed, z.object({ id: z.string() })).id;
}
