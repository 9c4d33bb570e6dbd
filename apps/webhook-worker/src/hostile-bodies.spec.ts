import { expectNoLongBlock } from '@fulfilment/testing';
import { setUpWorker } from './test/worker-setup.fixture.js';

const given = setUpWorker();

const subscription = { events: ['order.created'], url: 'https://192.0.2.1/hook', secret: 'a secret' };
const span = { since: '2026-11-20T12:00:00Z', until: '2026-11-20T13:00:00Z' };
/** Number of hostile variants of a body with few members; a larger body gets the default, which is higher. */
const runs = 30;

describe('a request body of up to 256 KiB blocks the event loop of the webhook worker for at most 50 ms', () => {
  it.each([
    { operation: 'a subscription is created', method: 'POST', path: '', good: subscription },
    {
      operation: 'a subscription is updated',
      method: 'PATCH',
      path: '/:id',
      good: { ...subscription, status: 'active' },
    },
    {
      operation: 'deliveries are recovered',
      method: 'POST',
      path: '/:id/recover',
      good: { ...span, statuses: ['failed'] },
      runs,
    },
    {
      operation: 'a test event is sent',
      method: 'POST',
      path: '/:id/test',
      good: { event: 'order.created' },
      runs,
    },
    {
      operation: 'a delivery is retried',
      method: 'POST',
      path: '/:id/deliveries/whd_none/retry',
      good: {},
      runs,
    },
  ])('when $operation', async ({ method, path, good, runs: runCount }) => {
    const client = await given.client();
    const id = await client.subscribe('http://127.0.0.1:9/none');
    const url = `${await given.worker.app.getUrl()}/store/v1/webhooks${path.replace(':id', id)}`;
    const headers = { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' };
    const send = async (body: string): Promise<void> => {
      const response = await fetch(url, { method, headers, body });
      expect(response.status).toBeLessThan(500);
      await response.arrayBuffer();
    };
    await expectNoLongBlock(good, send, runCount);
  });
});
