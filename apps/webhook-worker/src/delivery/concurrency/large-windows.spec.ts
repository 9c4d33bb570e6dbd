import type { ServerResponse } from 'node:http';
import { allHaveStatus, haveStatuses, ordersCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { DeliveryWindows } from './delivery-windows.js';
import { windowSizes } from './window.rules.js';

const hostLimit = 3 * windowSizes.initial;
const given = setUpWorker({
  WEBHOOK_HOST_CONCURRENCY: String(hostLimit),
  WEBHOOK_TIMEOUT_MS: '20000',
  WEBHOOK_RETRY_SCHEDULE_MS: '0,600000',
});

/** Subscribes with an accepted first delivery, so that the receiver counts as healthy. */
async function aHealthySubscriber(path: string) {
  given.stores.resetCreators();
  const client = await given.client();
  await client.subscribe(given.receiver.url + path);
  const publish = (count: number): Promise<void> => given.publish(...ordersCreated(client.creatorId, count));
  await publish(1);
  await given.deliveriesWhen(haveStatuses('succeeded'));
  return { publish };
}

/** Leaves requests to these paths without a response. Returns the open responses. */
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
    given.receiver.respondWith((response) => void setTimeout(() => response.writeHead(204).end(), 100));
    await large.publish(150);
    const [{ subscription_id: id = '' } = {}] = await given.deliveriesWhen(allHaveStatus(151, 'succeeded'));
    expect(given.worker.app.get(DeliveryWindows).get(id).window.size).toBeGreaterThan(windowSizes.initial);
    const other = await aHealthySubscriber('/other');

    const openResponses = doNotRespondTo(['/hook/large', '/hook/other']);
    const before = given.receiver.deliveries.length;
    for (let time = 0; time < 6; time += 1) await large.publish(10); // more than its host has slots
    await given.receiver.waitFor(before + 2 * windowSizes.initial);
    await other.publish(windowSizes.initial);
    await given.receiver.waitFor(before + hostLimit);
    const paths = given.receiver.deliveries.slice(before).map(({ path }) => path);
    expect(paths.filter((path) => path === '/hook/other')).toHaveLength(windowSizes.initial);
    expect(paths).toHaveLength(hostLimit);

    given.receiver.respondWith((response) => response.writeHead(204).end());
    for (const response of openResponses) response.writeHead(204).end();
    await given.receiver.waitFor(before + 60 + windowSizes.initial);
  });
});
