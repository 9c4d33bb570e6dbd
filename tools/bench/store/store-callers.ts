import { createStoreClient } from '@fulfilment/client/store';
import { publicId } from '@fulfilment/contracts';
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { orderRequest, shippingAddress } from '../../demo/order-request.ts';
import { Failure } from '../../dev/failure.ts';
import type { Caller } from '../rounds.ts';
import { rateId, type ShopData } from './shop-data.ts';

export const callerCount = 16;

/** Requests to store-api and to the bare server. */
export interface StoreRequests {
  readonly order: Caller;
  readonly releases: Caller;
  readonly placeOrder: Caller;
  /** At store-api the same as `placeOrder`; the bare server writes all rows in one statement instead. */
  readonly placeOrderAtOnce: Caller;
  /** Orders a piece of a limited edition, whose stock row all callers contend for. */
  readonly orderLimited: Caller;
  /** At store-api the same as `orderLimited`; the bare server only takes the piece from the stock. */
  readonly takeLimited: Caller;
  close(): Promise<void>;
}

/** Requests of integrations of one creator to store-api. */
export async function storeRequests(origin: string, data: ShopData, token: string): Promise<StoreRequests> {
  const send = requestSender(origin, { authorization: `Bearer ${token}` });
  const client = createStoreClient({ baseUrl: `${origin}/store`, auth: token });
  const ids = data.orderIds.map((id) => publicId('ord', id));
  const orderCaller = async (sku: string, quantities: readonly number[]): Promise<Caller> => {
    const order = await orderRequest(
      client,
      quantities.map((quantity) => ({ sku, quantity })),
    );
    return () => send('POST', '/store/v1/orders', 201, order, { 'idempotency-key': randomUUID() });
  };
  const placeOrder = await orderCaller(data.sku, [1, 2]);
  const orderLimited = await orderCaller(data.limitedSku, [1]);
  return {
    order: () => send('GET', `/store/v1/orders/${pickRandom(ids)}`, 200),
    releases: () => send('GET', '/store/v1/releases?limit=25&currency=GBP', 200),
    placeOrder,
    placeOrderAtOnce: placeOrder,
    orderLimited,
    takeLimited: orderLimited,
    close: () => send.close(),
  };
}

/** The requests to the bare server. */
export function baselineRequests(origin: string, data: ShopData): StoreRequests {
  const send = requestSender(origin, {});
  const { creatorId: creator } = data;
  const { unlimited: product, limited } = data.productUuids;
  const order = () => ({ creator, product, rate: rateId, address: shippingAddress, key: randomUUID() });
  return {
    order: () => send('GET', `/orders/${creator}/${pickRandom(data.orderIds)}`, 200),
    releases: () => send('GET', `/releases/${creator}`, 200),
    placeOrder: () => send('POST', '/orders', 201, order()),
    placeOrderAtOnce: () => send('POST', '/orders-at-once', 201, order()),
    orderLimited: () => send('POST', '/orders', 201, { ...order(), product: limited, takenPieces: 1 }),
    takeLimited: () => send('POST', '/stock', 201, { ...order(), product: limited }),
    close: () => send.close(),
  };
}

/** Returns a function that sends requests over kept-alive connections, and rejects an unexpected status. */
export function requestSender(origin: string, headers: Readonly<Record<string, string>>) {
  const pool = new Pool(origin, { connections: callerCount });
  const send = async (
    method: 'GET' | 'POST',
    path: string,
    expectedStatus: number,
    json?: object,
    extraHeaders: Readonly<Record<string, string>> = {},
  ): Promise<void> => {
    const response = await pool.request({
      method,
      path,
      headers: {
        ...headers,
        ...extraHeaders,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.body.text();
    if (response.statusCode !== expectedStatus)
      throw new Failure(`${method} ${path} responded with ${response.statusCode}: ${text.slice(0, 300)}`);
  };
  return Object.assign(send, { close: () => pool.close() });
}

function pickRandom(values: readonly string[]): string {
  return values[Math.floor(Math.random() * values.length)] ?? '';
}
