import { readFileSync } from 'node:fs';
import { reasonOf, Failure } from '../dev/failure.ts';
import { openShopReceiver, type ShopReceiver } from './receiver.ts';
import { equal, Steps, that } from './steps.ts';
import { ThirdPartyApp } from './third-party-app.ts';
import { demoToken, runningStack } from './demo-token.ts';
import { shipWithOps } from './warehouse.ts';
import { Api } from './api.ts';
import { lists, order, placed, quote, release, sales, subscription, creatorOrder } from './shapes.ts';

const webhookSecret = 'demo-webhook-secret';
const scopes = [
  'openid',
  'offline_access',
  'creator:read',
  'releases:read',
  'shipping:read',
  'orders:create',
  'orders:read',
  'webhooks:create',
  'webhooks:read',
  'webhooks:delete',
];

/** Acts as a third-party app that uses only the public interfaces. Stops at the first mismatch. */
async function demo(): Promise<void> {
  const stack = runningStack();
  const owner =
    stack.users.find(({ email }) => email === 'owner@harbour.example') ??
    fail('The demo account is missing.');
  const ca = readFileSync(stack.ca_file, 'utf8');
  const steps = new Steps();
  const receiver = await openShopReceiver(webhookSecret);
  const app = new ThirdPartyApp(stack.auth_url, ca);
  const month = new Date().toISOString().slice(0, 7);
  try {
    await steps.run('Register a client', async (note) => {
      const { status, clientId } = await app.register();
      note(`${status} client_id ${clientId.slice(0, 8)}…`);
    });
    const tokens = await steps.run('Sign in and consent', async (note) => {
      const got = await app.authorize(owner.email, owner.password, scopes);
      note(`200 access token for ${got.expires_in} s, refresh token`);
      return got;
    });
    const store = new Api(`${stack.base_url}/store`, tokens.access_token, ca);

    const sku = await steps.run('Read releases', async (note) => {
      const page = await store.get('/v1/releases?limit=100', lists.releases);
      const first =
        page.body.data.find(({ price_range }) => price_range !== null) ?? fail('No release is available.');
      const full = await store.get(`/v1/releases/${first.id}`, release);
      const product = full.body.products.find(
        ({ status, availability }) => status === 'available' && !availability.limited_edition,
      );
      note(`${full.status} ${page.body.data.length} releases; "${first.name}"`);
      return (product ?? fail(`"${first.name}" has no product that can be ordered.`)).id;
    });
    const items = [{ sku, quantity: 2 }];
    const rate = await steps.run('Quote shipping in GBP', async (note) => {
      const response = await store.post(
        '/v1/shipping-rates?currency=GBP',
        { country_code: 'GB', items },
        quote,
      );
      const [cheapest = fail('No shipping service ships to GB.')] = response.body.data;
      note(`${response.status} ${cheapest.name} £${(cheapest.price.amount / 100).toFixed(2)}`);
      return cheapest;
    });
    await steps.run('Quote shipping in JPY', async (note) => {
      const response = await store.post(
        '/v1/shipping-rates?currency=JPY',
        { country_code: 'JP', items },
        quote,
      );
      const [cheapest = fail('No shipping service ships to JP.')] = response.body.data;
      equal('the currency of the quote', cheapest.price.currency, 'JPY');
      note(`${response.status} ${cheapest.name} ¥${cheapest.price.amount}`); // yen have no minor unit
    });
    const hook = await steps.run('Subscribe a receiver', async (note) => {
      const response = await store.post(
        '/v1/webhooks',
        {
          url: receiver.url,
          secret: webhookSecret,
          events: ['order.created', 'order.processing', 'order.shipped'],
        },
        subscription,
      );
      equal('the status', response.status, 201);
      note(`${response.status} ${response.body.id}`);
      return response.body.id;
    });

    const body = {
      items: items.map((item) => ({ ...item, unit_price: { amount: 2999, currency: 'GBP' } })),
      shipping_address: {
        full_name: 'Aiko Mori',
        address_line_1: '1 Quay Street',
        city: 'London',
        postal_code: 'N1 1AA',
        country_code: 'GB',
      },
      shipping_rate_id: rate.id,
      source: { platform: 'demo', external_order_id: `demo-${Date.now()}` },
    };
    const key = crypto.randomUUID();
    const before = await steps.run("Read the month's sales before", async (note) => {
      const token = await demoToken(stack, { email: owner.email, scopes: ['openid', 'profile'] });
      const dashboard = new Api(`${stack.base_url}/creator`, token, ca);
      const uuid = owner.creators[0]?.uuid ?? fail('The demo account has no creator.');
      const response = await dashboard.get(`/api/v1/creators/${uuid}/stats/sales?period=${month}`, sales);
      note(`${response.status} ${response.body.totals.units} units`);
      return { dashboard, uuid, totals: response.body.totals };
    });
    const orderId = await steps.run('Place an order', async (note) => {
      const response = await store.post('/v1/orders', body, placed, { 'idempotency-key': key });
      equal('the status', response.status, 201);
      equal("the order's status", response.body.status, 'processing');
      note(`${response.status} ${response.body.id} ${response.body.status}`);
      return response.body.id;
    });
    await steps.run('Retry it with the same key', async (note) => {
      const response = await store.post('/v1/orders', body, placed, { 'idempotency-key': key });
      equal('the order', response.body.id, orderId);
      equal('idempotent-replayed', response.headers['idempotent-replayed'], 'true');
      note(`${response.status} the same order`);
    });
    await expectEvents(steps, receiver, orderId, ['order.created', 'order.processing']);
    await steps.run('Ship it from the warehouse', async (note) => {
      await shipWithOps(orderId);
      const { body: shown, status } = await store.get(`/v1/orders/${orderId}`, order);
      equal("the order's status", shown.status, 'shipped');
      equal('the tracking number', shown.tracking?.tracking_number, 'TEST0001');
      note(`${status} ${shown.status}, ${shown.tracking?.carrier} ${shown.tracking?.tracking_number}`);
    });
    await expectEvents(steps, receiver, orderId, ['order.shipped']);

    const { dashboard, uuid } = before;
    await steps.run('Find it in the Creator API', async (note) => {
      const found = await until(async () => {
        const response = await dashboard.get(
          `/api/v1/orders?creator=${uuid}&per_page=5`,
          lists.creatorOrders,
        );
        return response.body.data.find(
          ({ tracking_code, human_order_id }) => human_order_id === orderId && tracking_code !== '',
        );
      }, 'the order in the Creator API');
      const detail = await dashboard.get(`/api/v1/orders/${found.uuid}`, creatorOrder);
      equal('the dispatch status', detail.body.dispatch_status, 'dispatched');
      equal('the payment status', detail.body.payment_status, 'paid');
      note(
        `${detail.status} ${found.human_order_id}, royalty £${(detail.body.totals.royalty / 100).toFixed(2)}`,
      );
    });
    await steps.run("Read the month's sales", async (note) => {
      const now = await dashboard.get(`/api/v1/creators/${uuid}/stats/sales?period=${month}`, sales);
      // At least, since others may sell concurrently.
      that('two more units sold', now.body.totals.units - before.totals.units >= 2);
      that('their revenue', now.body.totals.revenue - before.totals.revenue >= 2 * 2999);
      note(`${now.status} ${now.body.totals.units} units, £${(now.body.totals.revenue / 100).toFixed(2)}`);
    });
    await steps.run('Unsubscribe', async (note) => {
      note(`${await store.delete(`/v1/webhooks/${hook}`)}`);
    });
    steps.done();
  } finally {
    await receiver.stop();
  }
}

async function expectEvents(
  steps: Steps,
  receiver: ShopReceiver,
  orderId: string,
  events: readonly string[],
): Promise<void> {
  for (const event of events) {
    await steps.run(`Receive ${event}`, async (note) => {
      const delivery = await until(() => Promise.resolve(receiver.find(event, orderId)), event);
      note(`signature verified, ${delivery.id.slice(0, 12)}…`);
    });
  }
}

async function until<Result>(read: () => Promise<Result | undefined>, what: string): Promise<Result> {
  const endsAtMs = performance.now() + 30_000;
  while (performance.now() < endsAtMs) {
    const result = await read();
    if (result !== undefined) return result;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Failure(`Expected ${what} within 30 s, but it did not arrive.`);
}

function fail(reason: string): never {
  throw new Failure(reason);
}

demo().catch((error: unknown) => {
  console.error(`\n${reasonOf(error)}`);
  process.exit(1);
});
