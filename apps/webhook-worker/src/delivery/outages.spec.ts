import { haveStatuses, orderCreated, startWorker } from '../test/webhook-worker.fixture.js';
import { setUpWorker } from '../test/worker-setup.fixture.js';

const given = setUpWorker({ REDIS_URL: 'redis://127.0.0.1:1/' });

describe('an outage', () => {
  it('of Redis does not stop deliveries', async () => {
    const { client } = await given.subscriber();
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(haveStatuses('succeeded'));
  });

  it('of all workers does not lose the events that are published during it', async () => {
    const { client } = await given.subscriber();
    await given.worker.stop();
    await given.publish(orderCreated(client.creatorId));
    const worker = await startWorker(given.stores);
    try {
      await given.receiver.waitFor(1);
    } finally {
      await worker.stop();
    }
  });
});
