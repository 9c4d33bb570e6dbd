import {
  eventually,
  type ReceivedDelivery,
  type WebhookReceiver,
  webhookReceiver,
} from '@fulfilment/testing';
import { z } from 'zod';
import { deliveryViolations } from '../suite/documented.js';
import { errorOf } from '../suite/error-envelope.js';
import { type Merchant, newMerchant, newProduct, type Product } from '../suite/merchant.js';
import { operate } from '../suite/operator.js';
import { shipOptions, placeOrder } from '../suite/orders.js';
import { isValidSignature } from '../suite/signature.js';

const secret = 'ein Geheimnis 🎸 with spaces ';
const webhooksPath = '/store/v1/webhooks';
const listedShape = z.object({
  subscriptions: z.array(
    z.object({ id: z.string(), client_id: z.string(), deleted_reason: z.string().nullable() }),
  ),
});

describe('webhook-worker', () => {
  let merchant: Merchant;
  let product: Product;
  const receivers: WebhookReceiver[] = [];
  beforeAll(async () => {
    merchant = await newMerchant();
    product = await newProduct(merchant);
  });
  /** Every delivery must match its documentation. One that arrives late fails a later test. */
  afterEach(() => {
    expect(receivers.flatMap(({ deliveries }) => deliveries.flatMap(deliveryViolations))).toEqual([]);
  });
  afterAll(() => Promise.all(receivers.map((receiver) => receiver.stop())));

  async function subscribe(events: readonly string[]): Promise<{ receiver: WebhookReceiver; id: string }> {
    const receiver = await webhookReceiver();
    receivers.push(receiver);
    const { body } = await merchant.store
      .post(webhooksPath, { url: receiver.url, secret, events })
      .expect(201);
    return { receiver, id: body.id };
  }
  const place = () => placeOrder(merchant.store, [{ sku: product.sku, quantity: 1 }]);
  const deliveriesAbout = (id: string, event: string, { deliveries }: WebhookReceiver) =>
    deliveries.filter(({ body }) => body.event === event && Object.values(body.data).includes(id));
  /** Names of the received events, each once: a delivery whose response was late is repeated. */
  const eventNames = ({ deliveries }: WebhookReceiver) =>
    [...new Map(deliveries.map(({ body }) => [body.id, body.event])).values()].sort();
  const firstDelivery = (id: string, event: string, receiver: WebhookReceiver): Promise<ReceivedDelivery> =>
    eventually(() => deliveriesAbout(id, event, receiver)[0], { describe: () => `no ${event}` });

  it('creates, returns, lists, updates and deletes a subscription, and never returns its secret', async () => {
    const url = 'https://shop.example/hooks';
    const events = ['order.created', 'order.created', 'order.shipped'];
    const created = await merchant.store.post(webhooksPath, { url, secret, events }).expect(201);
    const { id } = created.body;
    expect(created.get('location')).toMatch(new RegExp(`${webhooksPath}/${id}$`));
    expect(created.body).toEqual({
      id: expect.stringMatching(/^whk_/),
      url,
      events: ['order.created', 'order.shipped'],
      status: 'active',
      consecutive_failures: 0,
      last_delivery_at: null,
      last_failure_at: null,
      disabled_at: null,
      max_in_flight: 64,
      signature: 'v1',
      due_deliveries: 0,
      oldest_due_at: null,
    });
    expect((await merchant.store.get(`${webhooksPath}/${id}`).expect(200)).body).toEqual(created.body);
    const listedIds = async () => {
      const { body } = await merchant.store.get(webhooksPath).expect(200);
      return body.data.map((subscription: { id: string }) => subscription.id);
    };
    expect(await listedIds()).toContain(id);
    const ofOtherClient = await merchant.dashboard.get(`${webhooksPath}/${id}`).expect(404);
    expect(errorOf(ofOtherClient).code).toBe('NOT_FOUND');

    const disabled = await merchant.store.patch(`${webhooksPath}/${id}`, { status: 'disabled' }).expect(200);
    expect(disabled.body).toMatchObject({ status: 'disabled', disabled_at: expect.any(String) });
    expect(await listedIds()).not.toContain(id); // by default, the list has only active subscriptions
    const enabled = await merchant.store.patch(`${webhooksPath}/${id}`, { status: 'active' }).expect(200);
    expect(enabled.body).toMatchObject({ status: 'active', disabled_at: null });
    const changed = await merchant.store.patch(`${webhooksPath}/${id}`, {
      events: ['order.cancelled'],
      secret: 'new',
    });
    expect(changed.body.events).toEqual(['order.cancelled']);

    const deleted = await merchant.store.delete(`${webhooksPath}/${id}`).expect(204);
    expect(deleted.text).toBe('');
    await merchant.store.delete(`${webhooksPath}/${id}`).expect(404);
    await merchant.store.get(`${webhooksPath}/${id}`).expect(404);
  });

  it('delivers only subscribed events, signed over the raw bytes', async () => {
    const { receiver } = await subscribe(['order.created', 'order.processing', 'order.shipped']);
    const deliveredOnly = await subscribe(['order.delivered']);
    const id = await place();
    const created = await firstDelivery(id, 'order.created', receiver);
    const processing = await firstDelivery(id, 'order.processing', receiver);
    for (const delivery of [created, processing]) {
      expect(isValidSignature(delivery, secret)).toBe(true);
      expect(isValidSignature(delivery, `${secret}x`)).toBe(false);
      expect(delivery.headers['content-type']).toMatch(/^application\/json/);
      expect(Object.keys(delivery.body).sort()).toEqual(['api_version', 'created_at', 'data', 'event', 'id']);
    }
    expect(created.body.id).not.toBe(processing.body.id);
    expect(created.rawBody.toString()).not.toContain('Aiko'); // the name in the address

    await operate(['order', 'ship', id, ...shipOptions('N7')]);
    const shipped = await firstDelivery(id, 'order.shipped', receiver);
    expect(shipped.body.data).toEqual({
      order_id: id,
      carrier: 'Royal Mail',
      tracking_number: 'N7',
      tracking_url: 'https://track.example/N7',
      updated_at: expect.any(String),
    });
    await operate(['order', 'deliver', id]);
    await firstDelivery(id, 'order.delivered', deliveredOnly.receiver);
    expect(eventNames(deliveredOnly.receiver)).toEqual(['order.delivered']);
    expect(eventNames(receiver)).toEqual(['order.created', 'order.processing', 'order.shipped']);
  });

  it('retries with the same bytes and id when the receiver failed', async () => {
    const { receiver, id: subscription } = await subscribe(['order.created']);
    let isFailing = true;
    receiver.respondWith((response) => response.writeHead(isFailing ? 500 : 204).end());
    const order = await place();
    await firstDelivery(order, 'order.created', receiver);
    const seen = await eventually(async () => {
      const { body } = await merchant.store.get(`${webhooksPath}/${subscription}`).expect(200);
      return body.consecutive_failures > 0 ? body : undefined;
    });
    expect(seen.last_failure_at).toEqual(expect.any(String));
    isFailing = false;
    const [attempt, retry] = await eventually(() => {
      const all = deliveriesAbout(order, 'order.created', receiver);
      return all.length >= 2 ? all : undefined;
    });
    expect(retry?.body.id).toBe(attempt?.body.id);
    expect(retry?.rawBody.equals(attempt?.rawBody ?? Buffer.alloc(0))).toBe(true);
    expect(retry !== undefined && isValidSignature(retry, secret)).toBe(true);
    await eventually(async () => {
      const { body } = await merchant.store.get(`${webhooksPath}/${subscription}`).expect(200);
      return body.consecutive_failures === 0 && body.last_delivery_at !== null;
    });
  });

  it('delivers the events of each stock change of a limited edition once, and that of its withdrawal', async () => {
    const { receiver } = await subscribe([
      'product.inventory_changed',
      'product.out_of_stock',
      'product.in_stock',
      'product.unavailable',
    ]);
    const limited = await newProduct(merchant);
    await operate(['stock', 'set', limited.sku, '1']);
    await placeOrder(merchant.store, [{ sku: limited.sku, quantity: 1 }]);
    await firstDelivery(limited.sku, 'product.out_of_stock', receiver);
    await operate(['stock', 'set', limited.sku, '5']);
    await firstDelivery(limited.sku, 'product.in_stock', receiver);
    await operate(['product', 'withdraw', limited.sku]);
    const gone = await firstDelivery(limited.sku, 'product.unavailable', receiver);
    expect(gone.body.data).toMatchObject({ product_id: limited.sku, release_id: limited.releaseId });
    await eventually(() => eventNames(receiver).length >= 6);
    expect(eventNames(receiver)).toEqual([
      'product.in_stock',
      'product.inventory_changed',
      'product.inventory_changed',
      'product.inventory_changed',
      'product.out_of_stock',
      'product.unavailable',
    ]);
  });

  it('stops deliveries when the subscription is deleted', async () => {
    const deleted = await subscribe(['order.created']);
    const kept = await subscribe(['order.created']);
    await merchant.store.delete(`${webhooksPath}/${deleted.id}`).expect(204);
    await firstDelivery(await place(), 'order.created', kept.receiver);
    expect(deleted.receiver.deliveries).toHaveLength(0);
  });

  it('stops deliveries when the client is deleted, or the operator deletes the subscription', async () => {
    const { app, creator, dashboard, store } = await newMerchant();
    const ownReceivers = await Promise.all([webhookReceiver(), webhookReceiver(), webhookReceiver()]);
    const [ofApp, ofDashboard, kept] = ownReceivers;
    const ids: string[] = [];
    for (const [client, { url }] of [
      [store, ofApp],
      [dashboard, ofDashboard],
      [dashboard, kept],
    ] as const) {
      const { body } = await client
        .post(webhooksPath, { url, secret, events: ['product.available'] })
        .expect(201);
      ids.push(body.id);
    }
    const list = async (...flags: string[]) =>
      listedShape.parse(await operate(['webhooks', 'list', '--creator', creator.id, ...flags])).subscriptions;
    const listedIds = async () => (await list()).map(({ id }) => id);
    expect(await listedIds()).toEqual(ids);
    await operate(['client', 'delete', app.clientId]);
    await operate(['webhooks', 'delete', '--id', ids[1] ?? '']);
    await eventually(async () => (await listedIds()).length === 1);
    expect(await list('--deleted')).toMatchObject([
      { id: ids[0], client_id: app.clientId, deleted_reason: 'client_deleted' },
      { id: ids[1], deleted_reason: 'operator' },
      { id: ids[2], deleted_reason: null },
    ]);
    await newProduct({ dashboard, store: dashboard }); // the client of `store` is deleted
    await kept.waitFor(1);
    expect(ownReceivers.map(({ deliveries }) => deliveries.length)).toEqual([0, 0, 1]);
    await Promise.all(ownReceivers.map((receiver) => receiver.stop()));
  });
});
