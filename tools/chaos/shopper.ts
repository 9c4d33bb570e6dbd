import { createWebhook, type PlaceOrderRequest } from '@fulfilment/client/store';
import { storeScopes } from '@fulfilment/contracts';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { z } from 'zod';
import { ownerEmail } from '../demo/accounts.ts';
import { openStore } from '../demo/api.ts';
import { demoToken } from '../demo/demo-token.ts';
import { findUnlimitedProduct } from '../demo/find-product.ts';
import { orderRequest, sendOrder } from '../demo/order-request.ts';
import type { Stack } from '../dev/state/stack-file.ts';

export const orderEvents = ['order.created', 'order.processing'] as const;
const concurrency = 16;
const retryDelayMs = 250;
/** Long enough that a client gives up only after every store has been available again for a while. */
const giveUpAfterMs = 180_000;
const requestTimeoutMs = 40_000; // longer than the gateway's
const tokenRenewalMs = 240_000; // a token lives for an hour, so a failed renewal can be repeated
const placed = z.object({ id: z.string() });
/** Statuses after which an order is sent again. The key makes that safe even if it was placed. */
const retryableStatuses = new Set([409, 429, 500, 502, 503, 504]);

export interface AcceptedOrder {
  readonly id: string;
  readonly key: string;
  /** Pieces of the product that is not limited. Each order also has one of the limited edition. */
  readonly units: number;
  readonly startedAtMs: number;
  readonly acceptedAtMs: number;
}

/** A failed attempt to place an order. */
export interface FailedAttempt {
  readonly atMs: number;
  /** Status of the response, or error of the connection. */
  readonly reason: string;
}

/** An integration that places orders through the gateway and retries each with its own key. */
export class Shopper {
  readonly accepted: AcceptedOrder[] = [];
  readonly failedAttempts: FailedAttempt[] = [];
  /** Reasons of orders that were given up, or rejected with a status that is not retried. */
  readonly rejected: string[] = [];
  private readonly stack: Stack;
  private readonly pool: Pool;
  /** One piece of a limited edition, and one of another product, whose quantity `send` replaces. */
  private readonly order: PlaceOrderRequest;
  private readonly limitedSku: string;
  private token: Promise<string>;
  private tokenRenewalAtMs: number;
  private isClosed = false;

  /** @param limitedSku a limited edition with enough stock */
  static async open(
    stack: Stack,
    { limitedSku, receiver, secret }: { limitedSku: string; receiver: string; secret: string },
  ): Promise<Shopper> {
    const token = await signIn(stack);
    const client = openStore(stack, token);
    const sku = await findUnlimitedProduct(client);
    const order = await orderRequest(client, [
      { sku: limitedSku, quantity: 1 },
      { sku, quantity: 1 },
    ]);
    await createWebhook({ client, body: { url: receiver, secret, events: [...orderEvents] } });
    return new Shopper(stack, token, order, limitedSku);
  }

  constructor(stack: Stack, token: string, order: PlaceOrderRequest, limitedSku: string) {
    this.stack = stack;
    this.order = order;
    this.limitedSku = limitedSku;
    this.token = Promise.resolve(token);
    this.tokenRenewalAtMs = performance.now() + tokenRenewalMs;
    this.pool = new Pool(stack.base_url, {
      connections: concurrency,
      connect: { ca: readFileSync(stack.ca_file, 'utf8') },
      headersTimeout: requestTimeoutMs,
      bodyTimeout: requestTimeoutMs,
    });
  }

  /** Places at least `minCount` orders at a fixed rate, and more until the signal aborts. Ends at `close`. */
  async placeOrders({
    minCount = 0,
    perSecond,
    ended,
  }: {
    readonly minCount?: number;
    readonly perSecond: number;
    readonly ended: AbortSignal;
  }): Promise<void> {
    const startedAtMs = performance.now();
    let next = 0;
    const caller = async (): Promise<void> => {
      while (!this.isClosed && (next < minCount || !ended.aborted)) {
        const number = next++;
        await sleep(Math.max(0, startedAtMs + (number * 1_000) / perSecond - performance.now()));
        await this.placeOrder(1 + (number % 3)); // so that orders have 1, 2 or 3 units
      }
    };
    await Promise.all(Array.from({ length: concurrency }, caller));
  }

  /** Gives up the orders that were not accepted yet. */
  close(): Promise<void> {
    this.isClosed = true;
    return this.pool.destroy();
  }

  private async placeOrder(units: number): Promise<void> {
    const key = randomUUID();
    const startedAtMs = performance.now();
    while (!this.isClosed && performance.now() - startedAtMs < giveUpAfterMs) {
      const response = await this.send(key, units).catch((error: unknown) => ({
        status: 0,
        text: error instanceof Error && 'code' in error ? String(error.code) : String(error),
      }));
      if (response.status === 201) {
        const { id } = placed.parse(JSON.parse(response.text));
        this.accepted.push({ id, key, units, startedAtMs, acceptedAtMs: performance.now() });
        return;
      }
      const reason = response.status === 0 ? response.text : String(response.status);
      this.failedAttempts.push({ atMs: performance.now(), reason });
      if (response.status !== 0 && !retryableStatuses.has(response.status)) {
        this.rejected.push(`${response.status} ${response.text.slice(0, 200)}`);
        return;
      }
      await sleep(retryDelayMs);
    }
    if (!this.isClosed) this.rejected.push(`no success within ${giveUpAfterMs / 1_000} s: ${key}`);
  }

  private async send(key: string, units: number): Promise<{ status: number; text: string }> {
    const items = this.order.items.map((item) =>
      item.sku === this.limitedSku ? item : { ...item, quantity: units },
    );
    const order = { ...this.order, items };
    return sendOrder(this.pool, { token: await this.currentToken(), key, order });
  }

  /** Returns a token, which it renews regularly. If the sign-in fails, the old one is still valid. */
  private currentToken(): Promise<string> {
    if (performance.now() > this.tokenRenewalAtMs) {
      this.tokenRenewalAtMs = performance.now() + tokenRenewalMs;
      const old = this.token;
      this.token = signIn(this.stack).catch(() => {
        this.tokenRenewalAtMs = performance.now() + retryDelayMs;
        return old;
      });
    }
    return this.token;
  }
}

export function signIn(stack: Stack): Promise<string> {
  return demoToken(stack, { email: ownerEmail, scopes: ['openid', 'profile', ...Object.keys(storeScopes)] });
}
