import {
  type Client,
  type PlaceOrderRequest,
  createWebhook,
  readConnectedCreator,
} from '@fulfilment/client/store';
import { parsePublicId, storeScopes } from '@fulfilment/contracts';
import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { z } from 'zod';
import { ownerEmail } from '../../demo/accounts.ts';
import { openCreator, openStore } from '../../demo/api.ts';
import { demoToken } from '../../demo/demo-token.ts';
import { findLimitedEdition, findUnlimitedProduct } from '../../demo/find-product.ts';
import { orderRequest, sendOrder } from '../../demo/order-request.ts';
import { Failure } from '../../dev/failure.ts';
import type { Stack } from '../../dev/state/stack-file.ts';
import { callerCount } from '../store/store-callers.ts';
import { ReceiverProcess } from '../webhooks/receiver-process.ts';
import { subscriptionSecret } from '../webhooks/receiver-secret.ts';
import { openOrderStream, type StreamedOrders } from './streamed-orders.ts';
import { delaysOfWebhooks } from './webhook-delays.rules.ts';

const webhookPath = '/hook/0';
const projectionTimeoutMs = 60_000;
const pollIntervalMs = 10; // shorter intervals would slow the suite
const unavailableStatuses = new Set([502, 503, 504]);
const retryIntervalMs = 200;
const placed = z.object({ id: z.string() });

export interface PlacedOrder {
  readonly id: string;
  /** When its response had arrived, in ms since 1970. */
  readonly respondedAtMs: number;
}

interface Tokens {
  readonly storeToken: string;
  readonly creatorToken: string;
}

/** A merchant's integration with the receiver of its webhooks, and the dashboard of its creator. */
export class Integration {
  readonly receiver: ReceiverProcess;
  private readonly stack: Stack;
  private readonly tokens: Tokens;
  private readonly client: Client;
  private order: PlaceOrderRequest;
  private readonly storeApiPool: Pool;
  private readonly creatorApiPool: Pool;

  /** Signs in as an owner of the demo data, and starts a receiver with a subscription. */
  static async open(stack: Stack): Promise<Integration> {
    const receiver = await ReceiverProcess.start();
    const storeToken = await demoToken(stack, {
      email: ownerEmail,
      scopes: ['openid', ...Object.keys(storeScopes)],
    });
    const creatorToken = await demoToken(stack, { email: ownerEmail, scopes: ['openid', 'profile'] });
    const client = openStore(stack, storeToken);
    const sku = await findUnlimitedProduct(client);
    const order = await orderRequest(client, [
      { sku, quantity: 1 },
      { sku, quantity: 2 },
    ]);
    await createWebhook({
      client,
      body: {
        url: `${receiver.origin}${webhookPath}`,
        secret: subscriptionSecret(webhookPath),
        events: ['order.processing'],
      },
    });
    return new Integration(stack, receiver, { storeToken, creatorToken }, client, order);
  }

  private constructor(
    stack: Stack,
    receiver: ReceiverProcess,
    tokens: Tokens,
    client: Client,
    order: PlaceOrderRequest,
  ) {
    this.stack = stack;
    this.receiver = receiver;
    this.tokens = tokens;
    this.client = client;
    this.order = order;
    const connect = { ca: readFileSync(stack.ca_file, 'utf8') };
    this.storeApiPool = new Pool(stack.base_url, { connections: callerCount, connect });
    this.creatorApiPool = new Pool(stack.base_url, { connections: 2, connect });
  }

  /** Further orders are for one piece of a limited edition. @param pieces number that must be in stock */
  async switchToLimitedEdition(pieces: number): Promise<void> {
    const sku = await findLimitedEdition(this.client, pieces);
    this.order = await orderRequest(this.client, [{ sku, quantity: 1 }]);
  }

  /** @param retryForMs how long it retries, with the same key, while the service is unavailable */
  async placeOrder(retryForMs = 0): Promise<PlacedOrder> {
    const key = randomUUID();
    const startedAtMs = performance.now();
    for (;;) {
      const { status, text } = await sendOrder(this.storeApiPool, {
        token: this.tokens.storeToken,
        key,
        order: this.order,
      });
      if (status === 201) {
        const respondedAtMs = performance.timeOrigin + performance.now();
        return { id: placed.parse(JSON.parse(text)).id, respondedAtMs };
      }
      if (!unavailableStatuses.has(status) || performance.now() - startedAtMs >= retryForMs)
        throw new Failure(`The order was rejected with ${status}: ${text.slice(0, 300)}`);
      await sleep(retryIntervalMs);
    }
  }

  /**
   * Waits for the webhooks of the orders. Returns the ms from each response to the webhook's first byte.
   * @throws Failure unless each order has exactly one delivery with a valid signature
   */
  async webhookDelaysMs(orders: readonly PlacedOrder[]): Promise<number[]> {
    await this.receiver.waitForDeliveries(orders.length);
    return delaysOfWebhooks(orders, await this.receiver.take());
  }

  /** Returns the ms from the response until the Creator API returns the order. */
  async creatorDelayMs({ id, respondedAtMs }: PlacedOrder): Promise<number> {
    const path = `/creator/api/v1/orders/${parsePublicId('ord', id)}`;
    const headers = { authorization: `Bearer ${this.tokens.creatorToken}` };
    const timeoutAtMs = performance.now() + projectionTimeoutMs;
    while (performance.now() < timeoutAtMs) {
      const response = await this.creatorApiPool.request({ method: 'GET', path, headers });
      await response.body.dump();
      if (response.statusCode === 200) return performance.timeOrigin + performance.now() - respondedAtMs;
      if (response.statusCode !== 404) throw new Failure(`${path} responded with ${response.statusCode}.`);
      await sleep(pollIntervalMs);
    }
    throw new Failure(`The Creator API does not return the order ${id}.`);
  }

  /** Opens the stream of the creator's new orders. Close it at the end. */
  async streamOrders(): Promise<StreamedOrders> {
    const { data: creator } = await readConnectedCreator({ client: this.client });
    const client = openCreator(this.stack, this.tokens.creatorToken);
    return openOrderStream(client, parsePublicId('crt', creator.id) ?? '');
  }

  /** Waits until the Creator API returns the last of the orders. */
  async waitUntilProjected(orders: readonly PlacedOrder[]): Promise<void> {
    const last = orders.at(-1);
    if (last !== undefined) await this.creatorDelayMs(last);
  }

  async close(): Promise<void> {
    await Promise.all([this.storeApiPool.close(), this.creatorApiPool.close()]);
    await this.receiver.stop();
  }
}
