import { uuidv7 } from '@fulfilment/contracts';
import { webhookReceiver } from '@fulfilment/testing';
import type { ServerResponse } from 'node:http';
import { DispatchQueue } from '../../dispatch-queue/dispatch-queue.js';
import type { Lane } from '../../dispatch-queue/lanes.rules.js';
import {
  allHaveStatus,
  haveStatuses,
  orderCreated,
  ordersCreated,
} from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { countConcurrentRequests } from './concurrent-requests.fixture.js';
import { HostSlots } from './host-slots.js';

const hostLimit = 3;

const given = setUpWorker({ WEBHOOK_HOST_CONCURRENCY: String(hostLimit), WEBHOOK_TIMEOUT_MS: '20000' });

describe('one receiving host', () => {
  it('gets at most its limit of concurrent attempts plus one per further subscription, and all deliveries', async () => {
    const clients = [await given.client(), await given.client()];
    const [subscriptionsPerClient, eventsPerClient] = [3, 5];
    for (const client of clients) {
      for (let count = 0; count < subscriptionsPerClient; count += 1)
        await client.subscribe(given.receiver.url);
    }
    const subscriptionCount = clients.length * subscriptionsPerClient;
    const deliveryCount = subscriptionCount * eventsPerClient;
    const maxRunning = countConcurrentRequests(given.receiver, { delayMs: 200 });
    const sentMessages = clients.flatMap(({ creatorId }) => ordersCreated(creatorId, eventsPerClient));
    await given.publish(...sentMessages);
    await given.deliveriesWhen(allHaveStatus(deliveryCount, 'succeeded'));
    expect(maxRunning()).toBeGreaterThanOrEqual(hostLimit);
    expect(maxRunning()).toBeLessThanOrEqual(hostLimit + subscriptionCount - 1);
    expect(given.receiver.deliveries).toHaveLength(deliveryCount);
  });

  it('gets at most its limit of concurrent attempts from one subscription', async () => {
    const { client } = await given.subscriber();
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(haveStatuses('succeeded')); // until then, one attempt at a time
    const openResponses: ServerResponse[] = [];
    given.receiver.respondWith((response) => void openResponses.push(response));
    await given.fanOut(...ordersCreated(client.creatorId, 6));
    await given.receiver.waitFor(1 + hostLimit);
    const other = await webhookReceiver();
    try {
      await client.subscribe(other.url);
      await given.publish(orderCreated(client.creatorId));
      await other.waitFor(1); // so all earlier deliveries had a chance to be sent
    } finally {
      await other.stop();
    }
    expect(given.receiver.deliveries).toHaveLength(1 + hostLimit);
    given.receiver.respondWith((response) => response.writeHead(204).end());
    for (const response of openResponses) response.writeHead(204).end();
    await given.receiver.waitFor(1 + 6 + 1); // the last event has a delivery here, too
  });

  it('that does not respond to some subscriptions delays neither its other subscription nor other hosts', async () => {
    const other = await webhookReceiver();
    try {
      const client = await given.client();
      for (let count = 0; count < 5; count += 1) await client.subscribe(`${given.receiver.url}/silent`);
      const responsive = await given.client();
      await responsive.subscribe(`${given.receiver.url}/responsive`);
      const openResponses: ServerResponse[] = [];
      given.receiver.respondWith((response, { path }) => {
        if (path === '/hook/responsive') response.writeHead(204).end();
        else openResponses.push(response);
      });
      await given.publish(orderCreated(client.creatorId), orderCreated(client.creatorId));
      await given.receiver.waitFor(5);
      await given.publish(orderCreated(responsive.creatorId));
      await given.receiver.waitFor(6);
      await client.subscribe(other.url);
      await given.publish(orderCreated(client.creatorId));
      await other.waitFor(1);
      given.receiver.respondWith((response) => response.writeHead(204).end());
      for (const response of openResponses) response.writeHead(204).end();
      await given.receiver.waitFor(1 + 3 * 5); // three events for five subscriptions
    } finally {
      await other.stop();
    }
  });
});

describe('the slots of one host', () => {
  /** Returns a function that takes up to 64 slots for a new subscription, and returns their number. */
  const slotTaker = (lane: Lane, limit: number) => {
    const { stores, worker } = given;
    const config = { ...worker.config, WEBHOOK_HOST_CONCURRENCY: limit };
    const slots = new HostSlots(stores.database, worker.app.get(DispatchQueue), config);
    return async (): Promise<number> => {
      const subscriptionId = uuidv7();
      slots.rememberHost(subscriptionId, given.receiver.url);
      return (await slots.take({ subscriptionId, lane }, 64))?.count ?? 0;
    };
  };

  it('are a quarter of its limit for subscriptions that fail or are slow', async () => {
    const take = slotTaker('slow', 21);
    expect([await take(), await take(), await take()]).toEqual([6, 0, 0]); // a quarter of 21, rounded up
  });

  it('are at most five times its limit, with one for each further subscription', async () => {
    const take = slotTaker('fast', 2);
    const counts: number[] = [];
    for (let count = 0; count < 11; count += 1) counts.push(await take());
    expect(counts).toEqual([2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
  });
});
