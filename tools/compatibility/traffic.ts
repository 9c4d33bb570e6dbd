import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Integration, type PlacedOrder } from '../bench/suite/integration.ts';
import { ReceiverProcess } from '../bench/webhooks/receiver-process.ts';
import { ownerEmail } from '../demo/accounts.ts';
import { demoToken } from '../demo/demo-token.ts';
import { Failure } from '../dev/failure.ts';
import type { Stack } from '../dev/stack-file.ts';

const callerCount = 4;
const afterwardsMs = 3_000;
/** Time for which a caller retries while a process is replaced. */
const retryMs = 30_000;
const delivered = z.object({ data: z.object({ order_id: z.string() }) });

/** Orders of an integration, each of which must be delivered as a webhook and reach the Creator API. */
export class Traffic {
  private readonly stack: Stack;
  private readonly receiver: ReceiverProcess;
  private readonly integration: Integration;

  static async start(stack: Stack): Promise<Traffic> {
    const receiver = await ReceiverProcess.start();
    return new Traffic(stack, receiver, await Integration.open(stack, receiver));
  }

  private constructor(stack: Stack, receiver: ReceiverProcess, integration: Integration) {
    this.stack = stack;
    this.receiver = receiver;
    this.integration = integration;
  }

  /** Places orders during a change and a few seconds more, then signs in. @throws Failure if one is lost */
  async during(change: () => Promise<void>): Promise<void> {
    const orders = await this.placeOrdersDuring(change);
    await this.checkDelivered(orders);
    await this.integration.waitUntilProjected(orders);
    await demoToken(this.stack, { email: ownerEmail, scopes: ['openid', 'orders:read'] });
  }

  async stop(): Promise<void> {
    await this.integration.close();
    await this.receiver.stop();
  }

  private async placeOrdersDuring(change: () => Promise<void>): Promise<PlacedOrder[]> {
    const orders: PlacedOrder[] = [];
    const ended = new AbortController();
    const callers = Array.from({ length: callerCount }, async () => {
      while (!ended.signal.aborted) orders.push(await this.integration.placeOrder(retryMs));
    });
    const changed = change()
      .then(() => sleep(afterwardsMs))
      .finally(() => ended.abort());
    try {
      await Promise.all([changed, ...callers]);
    } finally {
      await Promise.allSettled([changed]); // a process that is still starting would outlive the suite
    }
    return orders;
  }

  /** Each order must be delivered at least once: a process that is replaced may repeat a delivery. */
  private async checkDelivered(orders: readonly PlacedOrder[]): Promise<void> {
    const missing = new Set(orders.map(({ id }) => id));
    while (missing.size > 0) {
      await this.receiver.waitForDeliveries(1);
      for (const { signed, envelope } of await this.receiver.take()) {
        const { order_id: id } = delivered.parse(envelope).data;
        if (!signed) throw new Failure(`A webhook of ${id} has no valid signature.`);
        missing.delete(id);
      }
    }
  }
}
