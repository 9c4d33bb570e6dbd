import { setTimeout as sleep } from 'node:timers/promises';
import { Integration, type PlacedOrder } from '../bench/suite/integration.ts';
import type { ReceiverProcess } from '../bench/webhooks/receiver-process.ts';
import { ownerEmail } from '../demo/accounts.ts';
import { demoToken } from '../demo/demo-token.ts';
import { Failure } from '../dev/failure.ts';
import type { Stack } from '../dev/state/stack-file.ts';

const callerCount = 4;
/** Time for which orders continue after a change. */
const loadAfterChangeMs = 3_000;
/** Time for which a caller retries while a process is replaced. */
const retryTimeoutMs = 30_000;

/** Opens an integration whose orders must all be delivered as webhooks and reach the Creator API. */
export async function openTraffic(stack: Stack) {
  const integration = await Integration.open(stack);
  return {
    /**
     * Places orders during a change and for 3 s after it. Then it signs in, since the change may concern
     * auth-server, and the orders use tokens from before the change.
     * @throws if an order is lost
     */
    during: async (change: () => Promise<void>): Promise<void> => {
      const orders = await placeOrdersDuring(change, integration);
      await checkDelivered(orders, integration.receiver);
      await integration.waitUntilProjected(orders);
      await demoToken(stack, { email: ownerEmail, scopes: ['openid', 'orders:read'] });
    },
    stop: () => integration.close(),
  };
}

async function placeOrdersDuring(
  change: () => Promise<void>,
  integration: Integration,
): Promise<PlacedOrder[]> {
  const orders: PlacedOrder[] = [];
  const ended = new AbortController();
  const callers = Array.from({ length: callerCount }, async () => {
    while (!ended.signal.aborted) orders.push(await integration.placeOrder(retryTimeoutMs));
  });
  const changed = change()
    .then(() => sleep(loadAfterChangeMs))
    .finally(() => ended.abort());
  try {
    await Promise.all([changed, ...callers]);
  } finally {
    // Also when placing an order fails: otherwise a service that is being replaced would start after the
    // suite was stopped.
    await Promise.allSettled([changed]);
  }
  return orders;
}

/** Waits until each order is delivered at least once: a process that is replaced may repeat a delivery. */
async function checkDelivered(orders: readonly PlacedOrder[], receiver: ReceiverProcess): Promise<void> {
  const missing = new Set(orders.map(({ id }) => id));
  while (missing.size > 0) {
    await receiver.waitForDeliveries(1);
    for (const { signed, envelope } of await receiver.take()) {
      const { order_id: id } = envelope.data;
      if (!signed) throw new Failure(`A webhook of ${id} has no valid signature.`);
      missing.delete(id);
    }
  }
}
