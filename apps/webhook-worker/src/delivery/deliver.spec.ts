import { publicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import type { ServerResponse } from 'node:http';
import { haveStatuses, isSignedWith, orderCreated } from '../test/webhook-worker.fixture.js';
import { setUpWorker } from '../test/worker-setup.fixture.js';

const endLeases = statement(
  'test.end-leases',
  "UPDATE webhook_deliveries SET lease_until = now() - interval '1 second' WHERE status = 'in_flight'",
);

describe('a delivery', () => {
  const given = setUpWorker();

  it('is signed, and has exactly the documented data of its event', async () => {
    const { client } = await given.subscriber(['order.created'], 'wh sec é 🎶');
    const message = orderCreated(client.creatorId);
    await given.publish(message);
    const [delivery] = await given.receiver.waitFor(1);
    const headers = delivery?.headers ?? {};
    expect(delivery?.body).toEqual({
      id: publicId('evt', message.id),
      api_version: '2026-11-01',
      created_at: message.occurred_at,
      event: 'order.created',
      data: {
        order_id: expect.stringMatching(/^ord_/),
        status: 'pending',
        source: { platform: 'shop', store_id: 'store-1', external_order_id: '1001' },
        total: { amount: 5348, currency: 'GBP' },
        item_count: 2,
        updated_at: '2026-11-01T12:00:00.000Z',
      },
    });
    expect(
      isSignedWith('wh sec é 🎶', headers['x-service-signature'], delivery?.rawBody ?? Buffer.alloc(0)),
    ).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Service-Webhooks/1',
      'x-service-event': 'order.created',
      'x-service-delivery': expect.stringMatching(/^whd_[0-9a-z]{26}$/),
      'x-service-attempt': '1',
      traceparent: expect.stringMatching(/^00-/),
      'accept-encoding': 'identity',
    });
    await given.deliveriesWhen(haveStatuses('succeeded'));
  });

  it('is sent once, however often the message is published', async () => {
    const { client } = await given.subscriber();
    const message = orderCreated(client.creatorId);
    await given.publish(message, message, message);
    await given.receiver.waitFor(1);
    await given.publish(message, message, orderCreated(client.creatorId));
    await given.deliveriesWhen(haveStatuses('succeeded', 'succeeded'));
    expect(given.receiver.deliveries).toHaveLength(2);
  });

  it('is created for each subscription of the same creator to the event', async () => {
    const [one, other] = [await given.client(), await given.client()];
    const subscribed = [
      await one.subscribe(given.receiver.url, ['order.created']),
      await one.subscribe(given.receiver.url, ['order.created', 'order.shipped']),
    ];
    await one.subscribe(given.receiver.url, ['order.shipped']);
    await other.subscribe(given.receiver.url, ['order.created']);
    await given.publish(orderCreated(one.creatorId));
    const rows = await given.deliveriesWhen(haveStatuses('succeeded', 'succeeded'));
    const subscriptions = rows.map((row) => publicId('whk', row.subscription_id));
    expect(subscriptions.toSorted()).toEqual(subscribed.toSorted());
    expect(given.receiver.deliveries).toHaveLength(2);
  });

  it('is created once for a subscription to a group of events, even if it names the event several times', async () => {
    const client = await given.client();
    const ids = [
      await client.subscribe(given.receiver.url, ['*']),
      await client.subscribe(given.receiver.url, ['product.in_stock', 'order.*']),
      await client.subscribe(given.receiver.url, ['*', 'order.created', 'order.*']),
    ];
    await client.subscribe(given.receiver.url, ['product.*']);
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(haveStatuses('succeeded', 'succeeded', 'succeeded'));
    const found = await Promise.all(ids.map((id) => client.get(`/${id}/deliveries`)));
    expect(found.map(({ body }) => body.data.length)).toEqual([1, 1, 1]);
  });

  it('is retried until the receiver accepts it, with the same bytes and a new attempt number', async () => {
    const { client, id } = await given.subscriber();
    let responses = 0;
    given.receiver.respondWith((response) => {
      responses += 1;
      response.writeHead(responses < 3 ? 500 : 200).end();
    });
    await given.publish(orderCreated(client.creatorId));
    const [first, second, third] = await given.receiver.waitFor(3);
    expect(second?.rawBody.equals(first?.rawBody ?? Buffer.alloc(0))).toBe(true);
    expect(third?.headers['x-service-attempt']).toBe('3');
    expect(third?.headers['x-service-delivery']).toBe(first?.headers['x-service-delivery']);
    const [row] = await given.deliveriesWhen(haveStatuses('succeeded'));
    expect(row?.outcomes).toEqual(['http_error', 'http_error', 'succeeded']);
    const { body } = await client.get(`/${id}`);
    expect(body).toMatchObject({ consecutive_failures: 0, status: 'active' });
    expect(body.last_failure_at).not.toBeNull();
    expect(body.last_delivery_at).not.toBeNull();
  });

  it('fails when four redirects, which are not followed, have exhausted the retry schedule', async () => {
    const { client, id } = await given.subscriber();
    given.receiver.respondWith((response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    );
    await given.publish(orderCreated(client.creatorId));
    const [row] = await given.deliveriesWhen(haveStatuses('failed'));
    expect(row).toMatchObject({ failure_reason: 'exhausted', attempt_count: 4 });
    expect(new Set(row?.outcomes)).toEqual(new Set(['redirect_not_followed']));
    expect((await client.get(`/${id}`)).body).toMatchObject({ status: 'active', consecutive_failures: 4 });
  });

  it.each(['1', ['1', '900']])(
    'is retried after the time in Retry-After, the first value if it is repeated: %j',
    async (retryAfter) => {
      const { client } = await given.subscriber();
      const receivedAtMs: number[] = [];
      given.receiver.respondWith((response) => {
        receivedAtMs.push(performance.now());
        if (receivedAtMs.length === 1) response.setHeader('retry-after', retryAfter);
        response.writeHead(receivedAtMs.length === 1 ? 503 : 204).end();
      });
      await given.publish(orderCreated(client.creatorId));
      await given.receiver.waitFor(2);
      expect((receivedAtMs[1] ?? 0) - (receivedAtMs[0] ?? 0)).toBeGreaterThanOrEqual(1_000);
    },
  );

  it.each([
    { connection: 'the same connection after a response', bytes: 16 * 1024, connectionCount: 1 },
    { connection: 'a new connection after a response', bytes: 16 * 1024 + 1, connectionCount: 2 },
  ])('is sent on $connection of $bytes bytes', async ({ bytes, connectionCount }) => {
    const { client } = await given.subscriber();
    const connections = new Set<unknown>();
    given.receiver.respondWith((response) => {
      connections.add(response.socket);
      response.end(Buffer.alloc(bytes));
    });
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(haveStatuses('succeeded'));
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(haveStatuses('succeeded', 'succeeded'));
    expect(connections.size).toBe(connectionCount);
  });

  it('is retried under the same id when its lease ends without a result', async () => {
    const { client } = await given.subscriber();
    const open = Promise.withResolvers<ServerResponse>();
    given.receiver.respondWith((response) => open.resolve(response));
    await given.publish(orderCreated(client.creatorId));
    const late = await open.promise;
    given.receiver.respondWith((response) => response.writeHead(204).end());
    await given.stores.database.run(endLeases);
    given.worker.reconcile();
    await given.deliveriesWhen(([row]) => row?.outcomes?.[0] === 'lost');
    late.writeHead(204).end(); // another attempt has the delivery now
    const deliveries = await given.receiver.waitFor(2);
    expect(deliveries[1]?.headers['x-service-delivery']).toBe(deliveries[0]?.headers['x-service-delivery']);
    const [row] = await given.deliveriesWhen(haveStatuses('succeeded'));
    expect(row).toMatchObject({ attempt_count: 2, outcomes: ['lost', 'succeeded'] });
  });
});

describe('a delivery whose receiver does not respond in time', () => {
  const impatient = setUpWorker({ WEBHOOK_TIMEOUT_MS: '1000' });

  it('is retried', async () => {
    const { client } = await impatient.subscriber();
    let responses = 0;
    impatient.receiver.respondWith((response) => {
      responses += 1;
      if (responses > 1) response.writeHead(204).end();
    });
    await impatient.publish(orderCreated(client.creatorId));
    const [row] = await impatient.deliveriesWhen(haveStatuses('succeeded'));
    expect(row?.outcomes?.[0]).toBe('timeout');
  });
});
