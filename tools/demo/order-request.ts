import { type Client, type PlaceOrderRequest, quoteRates } from '@fulfilment/client/store';
import type { Pool } from 'undici';
import { Failure } from '../dev/failure.ts';

/** The address of every order that tools place. */
export const shippingAddress = {
  full_name: 'Aiko Mori',
  address_line_1: '1 Quay Street',
  city: 'London',
  postal_code: 'N1 1AA',
  country_code: 'GB',
} as const;

/** Quotes shipping for the items. Returns an order of them with the first rate. */
export async function orderRequest(
  client: Client,
  items: readonly { readonly sku: string; readonly quantity: number }[],
): Promise<PlaceOrderRequest> {
  const { country_code } = shippingAddress;
  const { data: rates } = await quoteRates({
    client,
    query: { currency: 'GBP' },
    body: { country_code, items: [...items] },
  });
  const [rate] = rates.data;
  if (rate === undefined) throw new Failure(`No shipping service ships to ${country_code}.`);
  return {
    // What the merchant charged the customer, which is more than the price of the product.
    items: items.map((item) => ({ ...item, unit_price: { amount: 2999, currency: 'GBP' } })),
    shipping_address: shippingAddress,
    shipping_rate_id: rate.id,
  };
}

/** Sends an order over a connection that is kept alive. Does not reject for an error response. */
export async function sendOrder(
  pool: Pool,
  { token, key, order }: { readonly token: string; readonly key: string; readonly order: PlaceOrderRequest },
): Promise<{ status: number; text: string }> {
  const response = await pool.request({
    method: 'POST',
    path: '/store/v1/orders',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(order),
  });
  return { status: response.statusCode, text: await response.body.text() };
}
