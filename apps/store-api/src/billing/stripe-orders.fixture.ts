import { cancelled } from '../fulfilment/fulfilment.fixture.js';
import { type FakeStripe, fakeStripe, fakeStripeKey } from '../payments/stripe/fake-stripe.fixture.js';
import { startStoreApi } from '../test/store-api.fixture.js';
import { orderHelpers } from '../orders/order-helpers.fixture.js';

/** Settings of a store-api that charges at a fake Stripe. */
export const stripeSettings = ({ url }: FakeStripe) => ({
  NODE_ENV: 'test',
  PAYMENT_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: fakeStripeKey,
  STRIPE_ALLOW_TEST_KEY: 'true',
  STRIPE_API_URL: url,
});

/** Starts a fake Stripe and a store-api that charges at it. Returns them with helpers. */
export async function stripeOrders(environment: Readonly<Record<string, string>> = {}) {
  const stripe = await fakeStripe();
  const settings = { ...stripeSettings(stripe), ...environment };
  const store = await startStoreApi(settings);
  const helpers = orderHelpers(store);
  return {
    stripe,
    settings,
    store,
    helpers,
    /** Places an order of one piece, of a product with four in stock, for a new creator. */
    place: async (paymentMethod: string, idempotencyKey?: string) => {
      const { creator, body } = await helpers.prepareOrder({ paymentMethod, stock: 4 });
      const { status, body: order } = await helpers.place(creator, body, idempotencyKey);
      expect(status).toBe(201);
      return {
        creator,
        order,
        repeat: () => helpers.place(creator, body, idempotencyKey),
        intents: () => stripe.intents().filter(({ metadata }) => metadata['order_id'] === order.id),
      };
    },
    /** Cancels a paid order, so that its refund is due. */
    cancel: (order: { readonly id: string }) => store.publishAndWait(cancelled(order.id)),
    stop: async () => {
      await store.stop();
      await stripe.stop();
    },
  };
}

export type StripeOrders = Awaited<ReturnType<typeof stripeOrders>>;
