import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ApiClient } from '../suite/api-client.js';
import { type Line, orderBody } from '../suite/orders.js';

const pauseMs = 60;
const retryDelayMs = 200;
const giveUpAfterMs = 120_000;
const requestTimeoutMs = 20_000;
const placed = z.object({ id: z.string() });

interface SteadyShopperOptions {
  readonly store: ApiClient;
  readonly lines: readonly Line[];
  readonly rateId: string;
  /** Number of orders that are placed at the same time. */
  readonly concurrency: number;
}

/**
 * Places orders continuously. Retries requests without a response or with a transient error, with the same
 * key.
 */
export class SteadyShopper {
  /** Order ids by idempotency key. */
  readonly orders = new Map<string, string>();
  /** Responses that are neither an order nor a retryable error, and requests without an order in time. */
  readonly unexpected: string[] = [];
  private isStopped = false;
  private readonly loops: Promise<void>[];

  constructor(private readonly options: SteadyShopperOptions) {
    this.loops = Array.from({ length: options.concurrency }, () => this.shop());
  }

  /** Stops after the current orders. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.loops);
  }

  private async shop(): Promise<void> {
    while (!this.isStopped) {
      await this.placeOrder(randomUUID());
      await delay(pauseMs);
    }
  }

  private async placeOrder(key: string): Promise<void> {
    const { store, lines, rateId } = this.options;
    const endsAtMs = performance.now() + giveUpAfterMs;
    while (performance.now() < endsAtMs) {
      const response = await store
        .post('/store/v1/orders', orderBody(lines, rateId))
        .set('idempotency-key', key)
        .timeout(requestTimeoutMs)
        .catch(() => undefined); // the connection failed, so the outcome is unknown
      if (response?.status === 201) {
        this.orders.set(key, placed.parse(response.body).id);
        return;
      }
      if (response !== undefined && ![409, 429, 503].includes(response.status)) {
        this.unexpected.push(`${response.status} ${response.text}`);
        return;
      }
      await delay(retryDelayMs);
    }
    this.unexpected.push(`no order within ${giveUpAfterMs / 1_000} s`);
  }
}
