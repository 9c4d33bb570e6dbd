import { publicId } from '@fulfilment/contracts';
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import type { Caller } from '../rounds.ts';
import { rateId, type ShopData } from './shop-data.ts';

export const callerCount = 16;

const address = {
  full_name: 'Aiko Mori',
  address_line_1: '1 Quay Street',
  city: 'London',
  postal_code: 'N1 1AA',
  country_code: 'GB',
};

/** Requests to store-api and to the bare server. */
export interface StoreRequests {
  readonly order: Caller;
  readonly releases: Caller;
  readonly placeOrder: Caller;
  /** The same, but the bare server uses one statement. */
  readonly placeOrderAtOnce: Caller;
  /** Orders one piece of one limited edition, as all callers do. */
  readonly orderHot: Caller;
  /** The same, but the bare server only executes the guarded update. */
  readonly buyHot: Caller;
  close(): Promise<void>;
}

const quotedRates = z.object({ data: z.array(z.object({ id: z.string() })) });

/** Requests of integrations of one creator to store-api. */
export async function storeRequests(origin: string, data: ShopData, token: string): Promise<StoreRequests> {
  const send = requestSender(origin, { authorization: `Bearer ${token}` });
  const ids = data.orderIds.map((id) => publicId('ord', id));
  const order = (sku: string, rate: string, quantities: readonly number[]) => () =>
    send('POST', '/store/v1/orders', 201, body(sku, rate, quantities), { 'idempotency-key': randomUUID() });
  const [rate, hotRate] = [
    await quote(origin, token, data.sku, 3),
    await quote(origin, token, data.hotSku, 1),
  ];
  return {
    order: () => send('GET', `/store/v1/orders/${any(ids)}`, 200),
    releases: () => send('GET', '/store/v1/releases?limit=25&currency=GBP', 200),
    placeOrder: order(data.sku, rate, [1, 2]),
    placeOrderAtOnce: order(data.sku, rate, [1, 2]),
    orderHot: order(data.hotSku, hotRate, [1]),
    buyHot: order(data.hotSku, hotRate, [1]),
    close: () => send.close(),
  };
}

/** Quotes the shipping of some pieces. @returns the rate's id */
async function quote(origin: string, token: string, sku: string, quantity: number): Promise<string> {
  const response = await fetch(`${origin}/store/v1/shipping-rates?currency=GBP`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ country_code: 'GB', items: [{ sku, quantity }] }),
  });
  const [rate] = quotedRates.parse(await response.json()).data;
  if (rate === undefined) throw new Failure('There is no shipping rate.');
  return rate.id;
}

/** The same requests to the bare server. */
export function baselineRequests(origin: string, data: ShopData): StoreRequests {
  const send = requestSender(origin, {});
  const { creatorId: creator } = data;
  const { product, hot } = data.rows;
  const rate = rateId;
  return {
    order: () => send('GET', `/orders/${creator}/${any(data.orderIds)}`, 200),
    releases: () => send('GET', `/releases/${creator}`, 200),
    placeOrder: () => send('POST', '/orders', 201, { creator, product, rate, address, key: randomUUID() }),
    placeOrderAtOnce: () =>
      send('POST', '/orders-at-once', 201, { creator, product, rate, address, key: randomUUID() }),
    orderHot: () =>
      send('POST', '/orders', 201, { creator, product: hot, rate, address, key: randomUUID(), take: 1 }),
    buyHot: () => send('POST', `/hot/${creator}/${hot}`, 201, {}),
    close: () => send.close(),
  };
}

/** Sends requests over kept connections. Any unexpected status ends the measurement. */
export function requestSender(origin: string, headers: Readonly<Record<string, string>>) {
  const pool = new Pool(origin, { connections: callerCount });
  const send = async (
    method: 'GET' | 'POST',
    path: string,
    expected: number,
    json?: object,
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> => {
    const response = await pool.request({
      method,
      path,
      headers: { ...headers, ...more, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.body.text();
    if (response.statusCode !== expected)
      throw new Failure(`${method} ${path} responded with ${response.statusCode}: ${text.slice(0, 300)}`);
  };
  return Object.assign(send, { close: () => pool.close() });
}

function body(sku: string, rate: string, quantities: readonly number[]): object {
  return {
    items: quantities.map((quantity) => ({ sku, quantity, unit_price: { amount: 2499, currency: 'GBP' } })),
    shipping_address: address,
    shipping_rate_id: rate,
  };
}

function any(values: readonly string[]): string {
  return values[Math.floor(Math.random() * values.length)] ?? '';
}
