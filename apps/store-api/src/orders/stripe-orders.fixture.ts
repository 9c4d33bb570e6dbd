import { messages } from '@fulfilment/contracts';
import { messageOutcomes } from '@fulfilment/messaging';
import { eventually } from '@fulfilment/testing';
import { stripeStandIn, standInSecretKey } from '../payments/stripe-stand-in.fixture.js';
import { orderBody, startStoreApi } from '../store-api.fixture.js';
import { orderDesk } from './order-desk.fixture.js';

/** A store-api that charges by a stand-in for Stripe's API, and what tests of both do. */
export async function stripeOrders(environment: Readonly<Record<string, string>> = {}) {
  const standIn = await stripeStandIn();
  const settings = {
    NODE_ENV: 'test',
    PAYMENT_PROVIDER: 'stripe',
    STRIPE_SECRET_KEY: standInSecretKey,
    STRIPE_ALLOW_TEST_KEY: 'true',
    STRIPE_API_URL: standIn.url,
    PAYMENT_TIMEOUT_MS: '500',
    ...environment,
  };
  const store = await startStoreApi(settings);
  const desk = orderDesk(store);
  return {
    standIn,
    settings,
    store,
    desk,
    place: async (paymentMethod: string, idempotencyKey?: string) => {
      const who = await store.creator(paymentMethod);
      const [sku = ''] = (await store.release(who.id, [{ quantity: 4 }])).skus;
      const body = orderBody(sku, await store.quote(who.token));
      const { status, body: order } = await desk.place(who, body, idempotencyKey);
      expect(status).toBe(201);
      return {
        who,
        order,
        repeat: () => desk.place(who, body, idempotencyKey),
        intents: () => standIn.intents().filter(({ metadata }) => metadata['order_id'] === order.id),
      };
    },
    /** Cancels a paid order, whose charge is to be refunded then. */
    cancel: async (order: { readonly id: string }) => {
      const message = messages.fulfilmentCancelled.make(
        { order_id: order.id, reason: 'pressing fault' },
        { occurredAt: new Date() },
      );
      await store.broker.publish(message);
      await eventually(() => messageOutcomes(store.database)(`/messages/${message.id}`));
    },
    stop: async () => {
      await store.stop();
      await standIn.stop();
    },
  };
}

export type StripeOrders = Awaited<ReturnType<typeof stripeOrders>>;
