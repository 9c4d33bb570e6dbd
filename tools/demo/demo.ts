import * as creatorApi from '@fulfilment/client/creator';
import { AuthorizationServer } from '@fulfilment/client/oauth';
import {
  type Client,
  createWebhook,
  deleteWebhook,
  listReleases,
  placeOrder,
  type PlaceOrderRequest,
  quoteRates,
  readOrder,
  readRelease,
} from '@fulfilment/client/store';
import { readFileSync } from 'node:fs';
import { eventually } from '../dev/eventually.ts';
import { Failure, runMain } from '../dev/failure.ts';
import { operate } from '../ops/operate.ts';
import { readOperatorAccess } from '../ops/operator-access.ts';
import { ownerEmail } from './accounts.ts';
import { openShopReceiver, type ShopReceiver } from './receiver.ts';
import { expectEqual, Steps } from './steps.ts';
import { authorizationCodeFlow } from './authorization.ts';
import { demoToken } from './demo-token.ts';
import { readRunningSuite } from '../dev/state/running-suite.ts';
import { shippingAddress } from './order-request.ts';
import { fetchTrusting, openCreator, openStore } from './api.ts';
import type { Stack } from '../dev/state/stack-file.ts';

const arrivalTimeoutMs = 30_000;
const webhookSecret = 'demo-webhook-secret';
const redirectUri = 'https://merch-sync.example/callback';
/** The order of the demo has two pieces of one product. */
const units = 2;
const unitPricePence = 2999;
const parcelOptions = [
  ...['--carrier', 'Royal Mail', '--tracking-number', 'TEST0001'],
  ...['--tracking-url', 'https://track.example/TEST0001'],
];
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

type Owner = Stack['users'][number];

/**
 * Acts as a third-party app that uses only the Store API, as the dashboard that shows the order, and as the
 * operator who ships the order. Stops at the first mismatch.
 */
async function runDemo(): Promise<void> {
  const stack = await readRunningSuite();
  const owner = stack.users.find(({ email }) => email === ownerEmail) ?? fail('The demo account is missing.');
  const creator = owner.creators[0]?.uuid ?? fail('The demo account has no creator.');
  const steps = new Steps();
  const receiver = await openShopReceiver(webhookSecret);
  try {
    const accessToken = await authorizeApp(steps, stack, owner);
    const client = openStore(stack, accessToken);
    const sku = await findSku(steps, client);
    const rateId = await quoteShipping(steps, client, sku);
    const webhookId = await subscribe(steps, client, receiver.url);

    const token = await demoToken(stack, { email: owner.email, scopes: ['openid', 'profile'] });
    const dashboard = openCreator(stack, token);
    const month = new Date().toISOString().slice(0, 7);
    const readSales = () =>
      creatorApi.readSalesStatistics({
        client: dashboard,
        path: { uuid: creator },
        query: { period: month },
      });
    const before = await steps.run("Read the month's sales, before", async (note) => {
      const { data, response } = await readSales();
      note(`${response.status} ${data.totals.units} units`);
      return data.totals;
    });

    const orderId = await placeOrderTwice(steps, client, { sku, rateId });
    await expectEvents(steps, receiver, orderId, ['order.created', 'order.processing']);
    await shipOrder(steps, client, orderId);
    await expectEvents(steps, receiver, orderId, ['order.shipped']);
    await findInCreatorApi(steps, dashboard, creator, orderId);
    await steps.run("Read the month's sales", async (note) => {
      const { data, response } = await readSales();
      // Not exactly: other programs may place orders concurrently.
      if (data.totals.units - before.units < units) fail('The statistics do not show the two units.');
      if (data.totals.revenue - before.revenue < units * unitPricePence)
        fail('The statistics do not show the revenue of the two units.');
      note(`${response.status} ${data.totals.units} units, ${formatPounds(data.totals.revenue)}`);
    });
    await steps.run('Unsubscribe', async (note) => {
      note(`${(await deleteWebhook({ client, path: { id: webhookId } })).response.status}`);
    });
    steps.done();
  } finally {
    await receiver.stop();
  }
}

/** Returns an access token of the app. */
async function authorizeApp(steps: Steps, stack: Stack, owner: Owner): Promise<string> {
  const ca = readFileSync(stack.ca_file, 'utf8');
  const clientId = await steps.run('Register a client', async (note) => {
    const issuer = `${stack.auth_url}/api/auth`;
    const server = await AuthorizationServer.discover(issuer, { fetch: fetchTrusting(ca) });
    const id = await server.register({ name: 'Merch Sync', redirectUris: [redirectUri] });
    note(`201 client_id ${id.slice(0, 8)}…`);
    return id;
  });
  return steps.run('Sign in and consent', async (note) => {
    const { email, password } = owner;
    const request = { clientId, redirectUri, scopes, email, password };
    const { accessToken, refreshToken } = await authorizationCodeFlow(stack.auth_url, ca, request);
    note(`200 access token, ${refreshToken === undefined ? 'no' : 'and a'} refresh token`);
    return accessToken;
  });
}

/** Returns the SKU of a product that can be ordered in any quantity. */
function findSku(steps: Steps, client: Client): Promise<string> {
  return steps.run('Read releases', async (note) => {
    const { data: page } = await listReleases({ client, query: { limit: 100 } });
    const first =
      page.data.find(({ price_range }) => price_range !== null) ?? fail('No release has a price.');
    const { data: full, response } = await readRelease({ client, path: { id: first.id } });
    const product = full.products.find(
      ({ status, availability }) => status === 'available' && !availability.limited_edition,
    );
    note(`${response.status} ${page.data.length} releases; "${first.name}"`);
    return (product ?? fail(`"${first.name}" has no product that can be ordered.`)).id;
  });
}

/** Quotes in two currencies. Returns the id of the cheapest rate in GBP. */
async function quoteShipping(steps: Steps, client: Client, sku: string): Promise<string> {
  const quote = async (country_code: 'GB' | 'JP', currency: 'GBP' | 'JPY') => {
    const { data, response } = await quoteRates({
      client,
      query: { currency },
      body: { country_code, items: [{ sku, quantity: units }] },
    });
    const [cheapest = fail(`No shipping service ships to ${country_code}.`)] = data.data;
    expectEqual('the currency of the quote', cheapest.price.currency, currency);
    return { ...cheapest, httpStatus: response.status };
  };
  const rate = await steps.run('Quote shipping in GBP', async (note) => {
    const cheapest = await quote('GB', 'GBP');
    note(`${cheapest.httpStatus} ${cheapest.name} ${formatPounds(cheapest.price.amount)}`);
    return cheapest;
  });
  await steps.run('Quote shipping in JPY', async (note) => {
    const cheapest = await quote('JP', 'JPY');
    note(`${cheapest.httpStatus} ${cheapest.name} ¥${cheapest.price.amount}`); // yen have no minor unit
  });
  return rate.id;
}

/** Returns the id of the subscription. */
function subscribe(steps: Steps, client: Client, url: string): Promise<string> {
  return steps.run('Subscribe a receiver', async (note) => {
    const { data, response } = await createWebhook({
      client,
      body: { url, secret: webhookSecret, events: ['order.created', 'order.processing', 'order.shipped'] },
    });
    expectEqual('the status', response.status, 201);
    note(`${response.status} ${data.id}`);
    return data.id;
  });
}

/** Places an order, and repeats the request with the same idempotency key. Returns the id of the order. */
async function placeOrderTwice(
  steps: Steps,
  client: Client,
  { sku, rateId }: { readonly sku: string; readonly rateId: string },
): Promise<string> {
  const body: PlaceOrderRequest = {
    items: [{ sku, quantity: units, unit_price: { amount: unitPricePence, currency: 'GBP' } }],
    shipping_address: shippingAddress,
    shipping_rate_id: rateId,
    source: { platform: 'demo', external_order_id: `demo-${Date.now()}` },
  };
  const key = crypto.randomUUID();
  const place = () => placeOrder({ client, body, headers: { 'idempotency-key': key } });
  const orderId = await steps.run('Place an order', async (note) => {
    const { data, response } = await place();
    expectEqual('the status', response.status, 201);
    expectEqual("the order's status", data.status, 'processing');
    note(`${response.status} ${data.id} ${data.status}`);
    return data.id;
  });
  await steps.run('Retry it with the same key', async (note) => {
    const { data, response } = await place();
    expectEqual('the order', data.id, orderId);
    expectEqual('idempotent-replayed', response.headers.get('idempotent-replayed'), 'true');
    note(`${response.status} the same order`);
  });
  return orderId;
}

function shipOrder(steps: Steps, client: Client, orderId: string): Promise<void> {
  return steps.run('Ship it from the warehouse', async (note) => {
    // The command ends when store-api has applied the message of the warehouse.
    await operate(await readOperatorAccess(), 'store-api', ['order', 'ship', orderId, ...parcelOptions]);
    const { data, response } = await readOrder({ client, path: { id: orderId } });
    expectEqual("the order's status", data.status, 'shipped');
    expectEqual('the tracking number', data.tracking?.tracking_number, 'TEST0001');
    note(`${response.status} ${data.status}, ${data.tracking?.carrier} ${data.tracking?.tracking_number}`);
  });
}

/** Waits until the Creator API shows that the order is dispatched. */
function findInCreatorApi(
  steps: Steps,
  dashboard: creatorApi.Client,
  creator: string,
  orderId: string,
): Promise<void> {
  return steps.run('Find it in the Creator API', async (note) => {
    const found = await eventually(
      async () => {
        const { data: page } = await creatorApi.listOrders({
          client: dashboard,
          query: { creator, per_page: 5 },
        });
        return page.data.find(
          ({ tracking_code, human_order_id }) => human_order_id === orderId && tracking_code !== '',
        );
      },
      arrivalTimeoutMs,
      'the Creator API has the shipped order',
    );
    const { data, response } = await creatorApi.readOrder({
      client: dashboard,
      path: { uuid: found.uuid },
    });
    expectEqual('the dispatch status', data.dispatch_status, 'dispatched');
    expectEqual('the payment status', data.payment_status, 'paid');
    note(`${response.status} ${found.human_order_id}, royalty ${formatPounds(data.totals.royalty)}`);
  });
}

async function expectEvents(
  steps: Steps,
  receiver: ShopReceiver,
  orderId: string,
  events: readonly string[],
): Promise<void> {
  for (const event of events) {
    await steps.run(`Receive ${event}`, async (note) => {
      const delivery = await receiver.receive(event, orderId);
      note(`signature verified, ${delivery.id.slice(0, 12)}…`);
    });
  }
}

function formatPounds(pence: number): string {
  return `£${(pence / 100).toFixed(2)}`;
}

function fail(reason: string): never {
  throw new Failure(reason);
}

runMain(runDemo);
