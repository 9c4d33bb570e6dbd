import type { setUpWorker } from '../test/worker-setup.fixture.js';
import { allHaveStatus, deliveriesWhen, ordersCreated } from '../test/webhook-worker.fixture.js';

/** Creates a client with a subscription and `count` ended deliveries. Further deliveries succeed. */
export async function withEndedDeliveries(
  { client: newClient, receiver, stores }: ReturnType<typeof setUpWorker>,
  count: number,
  status: 'succeeded' | 'failed',
) {
  const client = await newClient();
  const id = await client.subscribe(receiver.url, ['order.created', 'product.in_stock']);
  receiver.respondWith((response) => response.writeHead(status === 'failed' ? 500 : 204).end());
  await stores.broker.publish(...ordersCreated(client.creatorId, count));
  await deliveriesWhen(stores, allHaveStatus(count, status));
  receiver.respondWith((response) => response.writeHead(200, { 'x-request-id': 'r1' }).end('thanks'));
  return { client, id };
}
