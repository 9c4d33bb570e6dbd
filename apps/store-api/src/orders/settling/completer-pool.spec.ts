import { Database, type OpenTransaction, statement } from '@fulfilment/database';
import { uuidv7 } from '@fulfilment/contracts';
import { eventually } from '@fulfilment/testing';
import { stripeSettings } from '../../billing/stripe-orders.fixture.js';
import { type FakeStripe, fakeStripe } from '../../payments/stripe/fake-stripe.fixture.js';
import {
  requestPoolSize,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
} from '../../test/store-api.fixture.js';
import { orderHelpers } from '../order-helpers.fixture.js';
import { copyAsPending } from '../reading/copied-orders.fixture.js';
import { OrderCompleter } from './order-completer.js';

/** Concurrent charges of each loop of the completer. */
const slots = 20;

/** Makes the orders of $1 due with payment method $2. The new id of the charge is unknown to the provider. */
const becomeOverdue = statement(
  'test.become-overdue',
  `WITH overdue AS (
     UPDATE orders SET status = 'pending', payment_status = 'pending', charged_at = NULL, resume_at = now() - interval '1 minute'
     WHERE creator_id = $1 RETURNING id
   )
   UPDATE charges SET id = gen_random_uuid(), status = 'pending', payment_method = $2, provider_reference = NULL, settled_at = NULL
   FROM overdue WHERE order_id = overdue.id`,
);
const statusOf = statement('test.status-of', 'SELECT status FROM orders WHERE creator_id = $1');
const readOne = statement('test.read-one', 'SELECT 1 AS one');

let stripe: FakeStripe;
let store: StoreApiUnderTest;
beforeAll(async () => {
  stripe = await fakeStripe();
  const environment = { ...stripeSettings(stripe), PAYMENT_TIMEOUT_MS: '15000' };
  // The second argument opens no proxy here; it only gives requests a pool of their own.
  store = await startStoreApi(environment, (url) => Promise.resolve({ url, stop: () => Promise.resolve() }));
});
afterAll(async () => {
  await store.stop();
  await stripe.stop();
});

/** Creates a creator with one paid order. */
async function place(): Promise<Creator> {
  const helpers = orderHelpers(store);
  const { creator, body } = await helpers.prepareOrder({ paymentMethod: 'pm_card_visa' });
  expect((await helpers.place(creator, body, uuidv7())).body.status).toBe('processing');
  return creator;
}

/** Opens transactions that use all connections of the request pool. */
async function useAllConnections(): Promise<OpenTransaction[]> {
  const requests = store.app.get(Database);
  return Promise.all(
    Array.from({ length: requestPoolSize }, async () => {
      const open = await requests.begin();
      await open.tx.rows(readOne);
      return open;
    }),
  );
}

describe('the completer', () => {
  it.each([
    ['succeeds', 'pm_card_visa', 'processing'],
    ['is declined', 'pm_card_chargeDeclined', 'payment_failed'],
  ])(
    'settles an order whose charge %s while requests use all connections of their pool',
    async (_, paymentMethod, status) => {
      const creator = await place();
      await store.database.run(becomeOverdue, [creator.id, paymentMethod]);
      const transactions = await useAllConnections();
      try {
        await store.resumeOrdersAndRefunds();
        expect(await store.database.row(statusOf, [creator.id])).toEqual({ status });
      } finally {
        for (const transaction of transactions) await transaction.rollback();
      }
    },
  );

  it('holds no connection while it waits for the provider, so that consumers continue', async () => {
    const creator = await place();
    await copyAsPending(store.database, creator.id, slots);
    // The provider never responds for the payment method of the copies (unresponsivePaymentMethod).
    const before = stripe.requests.length;
    const completer = store.app.get(OrderCompleter);
    completer.start();
    try {
      await eventually(() => stripe.requests.length >= before + slots);
      await store.creator(); // resolves when a consumer has stored the creator
    } finally {
      await completer.stop();
    }
  });
});
