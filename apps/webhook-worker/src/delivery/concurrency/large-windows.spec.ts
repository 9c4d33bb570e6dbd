import type { ServerResponse } from 'node:http';
import { haveStatuses, ordersCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { anAttempt } from '../attempt.fixture.js';
import { DeliveryWindows } from './delivery-windows.js';
import { windowSizes } from './window.rules.js';

const hostLimit = 3 * windowSizes.initial;
const given = setUpWorker({
  WEBHOOK_HOST_CONCURRENCY: String(hostLimit),
  WEBHOOK_TIMEOUT_MS: '20000',
  WEBHOOK_RETRY_SCHEDULE_MS: '0,600000',
});

/** Creates a subscription whose receiver has accepted a delivery, so that it counts as healthy. */
async function aHealthySubscriber(path: string) {
  given.stores.resetCreators();
  const client = await given.client();
  await client.subscribe(given.receiver.url + path);
  const publish = (count: number): Promise<void> => given.publish(...ordersCreated(client.creatorId, count));
  await publish(1);
  const [{ subscription_id: id = '' } = {}] = await given.deliveriesWhen(haveStatuses('succeeded'));
  const fanOut = (count: number) => given.fanOut(...ordersCreated(client.creatorId, count));
  return { publish, fanOut, id };
}

/** Doubles the window twice, each time by a round of successes without latency. */
function growWindow(subscriptionId: string): void {
  const windows = given.worker.app.get(DeliveryWindows);
  const { exchange } = anAttempt(subscriptionId);
  for (let successes = 0; successes < (1 + 2) * windowSizes.initial; successes += 1) {
    const { url = '', window } = windows.get(subscriptionId);
    const atStart = { reductions: window.reductions, isFull: true };
    windows.record({ subscriptionId, url, test: false }, atStart, { ...exchange, durationMs: 0 });
  }
  expect(windows.get(subscriptionId).window.size).toBe(4 * windowSizes.initial);
}

/** Makes the receiver not respond to requests to these paths. Returns the open responses. */
function doNotRespondTo(paths: readonly string[]): ServerResponse[] {
  const openResponses: ServerResponse[] = [];
  given.receiver.respondWith((response, { path }) => {
    if (paths.includes(path)) openResponses.push(response);
    else response.writeHead(204).end();
  });
  return openResponses;
}

describe('a subscription with a large window', () => {
  it('leaves its host enough slots for the initial window of another, even if its requests get no response', async () => {
    const large = await aHealthySubscriber('/large');
    growWindow(large.id);
    const other = await aHealthySubscriber('/other');

    const openResponses = doNotRespondTo(['/hook/large', '/hook/other']);
    const before = given.receiver.deliveries.length;
    const largeCount = 60; // more than its host has slots
    for (let published = 0; published < largeCount; published += 10) await large.publish(10);
    // Its initial window, and half of the 16 slots beyond it.
    await given.receiver.waitFor(before + 2 * windowSizes.initial);
    await other.fanOut(windowSizes.initial);
    await given.receiver.waitFor(before + hostLimit);
    const paths = given.receiver.deliveries.slice(before).map(({ path }) => path);
    expect(paths.filter((path) => path === '/hook/other')).toHaveLength(windowSizes.initial);
    expect(paths).toHaveLength(hostLimit);

    given.receiver.respondWith((response) => response.writeHead(204).end());
    for (const response of openResponses) response.writeHead(204).end();
    await given.receiver.waitFor(before + largeCount + windowSizes.initial);
  });
});
