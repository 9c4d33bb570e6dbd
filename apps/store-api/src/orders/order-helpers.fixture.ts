import { messages, publicId, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { metrics } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import { jest } from '@jest/globals';
import type { ChargeStatus } from '../billing/open-charge.js';
import {
  type Creator,
  orderBody,
  type StoreApiUnderTest,
  withoutRepetitions,
} from '../test/store-api.fixture.js';

/** A charge of the sandbox provider. */
export interface ProviderCharge {
  readonly amount: number;
  readonly currency: string;
  readonly outcome: 'succeeded' | 'declined';
  readonly refunded: boolean;
}

/** A charge of an order, as it is stored. */
export interface StoredCharge {
  readonly id: string;
  readonly orderId: string;
  readonly status: ChargeStatus;
  readonly reference: string | null;
  readonly refundReference: string | null;
  readonly settledAt: Date | null;
}

const readCharges = statement(
  'test.charges',
  `SELECT c.id, c.order_id AS "orderId", c.status, c.provider_reference AS reference, c.refund_reference AS "refundReference",
          c.settled_at AS "settledAt"
   FROM charges c JOIN orders o ON o.id = c.order_id WHERE o.creator_id = $1 ORDER BY c.attempt`,
);
const readProviderCharges = statement(
  'test.provider-charges',
  `SELECT amount, currency, outcome, refunded_at IS NOT NULL AS refunded FROM sandbox_charges
   WHERE order_id = ANY ($1) ORDER BY charged_at`,
);
const setPaymentMethod = statement(
  'test.set-payment-method',
  'UPDATE creators SET payment_method = $2 WHERE id = $1',
);
const orderIds = statement('test.order-ids', 'SELECT id FROM orders WHERE creator_id = $1');
const countOrders = statement('test.orders', 'SELECT count(*) AS orders FROM orders WHERE creator_id = $1');
const stockOf = statement(
  'test.stock',
  'SELECT quantity FROM products WHERE creator_id = $1 ORDER BY position',
);
const dueNow = statement(
  'test.due',
  'UPDATE orders SET resume_at = now() WHERE creator_id = $1 AND resume_at IS NOT NULL',
);
const outboxSize = statement('test.outbox', 'SELECT count(*) AS messages FROM outbox');

/** The timers that Jest must not fake when only the date is fake. */
const timers = [
  'nextTick',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'performance',
] as const;

/** Options of `prepareOrder`. */
export interface OrderOptions {
  /** By default, a payment method whose charges succeed. */
  readonly paymentMethod?: string | undefined;
  /** Pieces of a limited edition; by default null, for an unlimited product. */
  readonly stock?: number | null;
  /** Pieces in the order; by default one. */
  readonly pieces?: number;
}

/** Helpers that place and complete orders of a creator, and read the creator's charges, stock and events. */
export function orderHelpers(store: StoreApiUnderTest) {
  /** Waits until all messages of the outbox have arrived at the test. */
  const waitUntilPublished = async (): Promise<void> => {
    await eventually(
      async () => (await store.database.row<{ messages: number }>(outboxSize))?.messages === 0,
    );
    // A message about no order and no product, which no assertion counts. The test's queue is first in, first
    // out, so when it has arrived, all earlier messages have.
    const last = messages.trackProcessed.make(
      { release_id: uuidv7(), track_id: uuidv7(), title: null, position: null, duration_seconds: 0 },
      { occurredAt: new Date() },
    );
    await store.broker.publish(last);
    await eventually(() => store.broker.published.some(({ id }) => id === last.id));
  };
  const charges = (creator: Creator) => store.database.rows<StoredCharge>(readCharges, [creator.id]);
  const openChargeCount = async (creator: Creator) =>
    (await charges(creator)).filter(({ status }) => status === 'pending' || status === 'refund_due').length;
  return {
    /** Creates a creator with one product. Returns both, and the body of an order of the product. */
    prepareOrder: async ({ paymentMethod, stock = null, pieces = 1 }: OrderOptions = {}) => {
      const creator = await store.creator(paymentMethod);
      const { sku } = await store.release(creator.id, [{ quantity: stock }]);
      return { creator, sku, body: orderBody(sku, await store.quote(creator.token), pieces) };
    },
    place: (creator: Creator, body: object, idempotencyKey?: string) =>
      store.post('/store/v1/orders', creator.token, body, idempotencyKey),
    /** Runs with a short timeout of the payment provider, for charges to which it does not respond. */
    withShortPaymentTimeout: async <Result>(run: () => Promise<Result>): Promise<Result> => {
      const timeout = jest.replaceProperty(store.config, 'PAYMENT_TIMEOUT_MS', 100);
      try {
        return await run();
      } finally {
        timeout.restore();
      }
    },
    /** Runs with another date and time of this process; timers and PostgreSQL keep theirs. */
    withClockAt: async <Result>(now: number, run: () => PromiseLike<Result>): Promise<Result> => {
      jest.useFakeTimers({ doNotFake: [...timers], now });
      try {
        return await run();
      } finally {
        jest.useRealTimers();
      }
    },
    setPaymentMethod: (creator: Creator, method: string | null) =>
      store.database.run(setPaymentMethod, [creator.id, method]),
    waitUntilPublished,
    /** Every charge of the creator's orders, in the order of their attempts. */
    charges,
    /** Every charge of the creator's orders at the sandbox provider. */
    providerCharges: async (creator: Creator) => {
      const orders = await store.database.rows<{ id: string }>(orderIds, [creator.id]);
      return store.database.rows<ProviderCharge>(readProviderCharges, [
        orders.map(({ id }) => publicId('ord', id)),
      ]);
    },
    orderCount: async (creator: Creator) =>
      (await store.database.row<{ orders: number }>(countOrders, [creator.id]))?.orders,
    stock: async (creator: Creator) =>
      (await store.database.rows<{ quantity: number | null }>(stockOf, [creator.id])).map(
        ({ quantity }) => quantity,
      ),
    /** Types of the published messages about the creator, in order, without repetitions of a message. */
    events: async (creator: Creator, prefix: 'order.' | 'product.') => {
      await waitUntilPublished();
      const events = store.broker.published.filter(
        ({ type, data }) => type.startsWith(prefix) && JSON.stringify(data).includes(creator.id),
      );
      return withoutRepetitions(events).map(({ type }) => type);
    },
    /** Number of charges without an outcome, and of due refunds. */
    openChargeCount,
    /**
     * Runs rounds of the completer, as orders become due, until no charge or refund of the creator is open.
     */
    completeAll: (creator: Creator) =>
      eventually(async () => {
        await store.resumeOrdersAndRefunds();
        return (await openChargeCount(creator)) === 0;
      }),
    /** Makes the creator's orders that wait for the completer due, and runs one round of it. */
    runCompleter: async (creator: Creator) => {
      await store.database.run(dueNow, [creator.id]);
      await store.resumeOrdersAndRefunds();
    },
  };
}

/** Returns the value of `orders_placed_total` for an outcome. */
export async function placedOrdersWith(outcome: string): Promise<number> {
  const counted = await metrics.getSingleMetric('orders_placed_total')?.get();
  return counted?.values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0;
}

export type OrderHelpers = ReturnType<typeof orderHelpers>;
