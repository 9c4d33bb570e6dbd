import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ApiClient } from './api-client.js';
import { type Line, orderOf } from './orders.js';

const pauseMs = 60;
const retryEveryMs = 200;
const giveUpAfterMs = 60_000;
const placed = z.object({ id: z.string(), status: z.string() });

/** Places order after order, as a careful client does: what gets no answer, or one that may pass, is sent again under the same key. */
export class SteadyShopper {
  /** The order that each key became. */
  readonly orders = new Map<string, string>();
  /** Answers that were neither an order nor one a client may try again. */
  readonly surprises: string[] = [];
  retries = 0;
  private stopped = false;
  private readonly running: Promise<void>[];

  constructor(
    private readonly store: ApiClient,
    private readonly lines: readonly Line[],
    private readonly rateId: string,
    hands: number,
  ) {
    this.running = Array.from({ length: hands }, () => this.shop());
  }

  /** Finishes what is in hand. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.running);
  }

  private async shop(): Promise<void> {
    while (!this.stopped) {
      await this.order(randomUUID());
      await delay(pauseMs);
    }
  }

  private async order(key: string): Promise<void> {
    const endsAtMs = performance.now() + giveUpAfterMs;
    while (performance.now() < endsAtMs) {
      const answer = await this.store
        .post('/store/v1/orders', orderOf(this.lines, this.rateId))
        .set('idempotency-key', key)
        .timeout(20_000)
        .catch(() => undefined); // the connection broke: nobody knows what became of it
      if (answer?.status === 201) {
        this.orders.set(key, placed.parse(answer.body).id);
        return;
      }
      if (answer !== undefined && ![409, 429, 503].includes(answer.status)) {
        this.surprises.push(`${answer.status} ${answer.text}`);
        return;
      }
      this.retries += 1;
      await delay(retryEveryMs);
    }
    this.surprises.push('no order within a minute');
  }
}
