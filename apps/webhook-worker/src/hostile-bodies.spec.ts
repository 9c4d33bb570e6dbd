import { rejectLongBlocks } from '@fulfilment/testing';
import { setUpWorker } from './worker-setup.fixture.js';

const given = setUpWorker();

const subscription = { events: ['order.created'], url: 'https://192.0.2.1/hook', secret: 'a secret' };
const timeoutMs = 120_000;

/** Sends hostile variants of a body to an operation. `:id` in the path stands for a subscription. */
async function rejectLongBlocksOf(method: string, path: string, good: object, runs?: number): Promise<void> {
  const client = await given.client();
  const id = await client.subscribe('http://127.0.0.1:9/none');
  const url = `${await given.worker.app.getUrl()}/store/v1/webhooks${path.replace(':id', id)}`;
  const headers = { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' };
  const send = async (body: string): Promise<void> => {
    const response = await fetch(url, { method, headers, body });
    expect(response.status).toBeLessThan(500);
    await response.arrayBuffer();
  };
  await rejectLongBlocks(good, send, runs);
}

describe('a request body of up to 256 KiB blocks the event loop of the webhook worker for at most 50 ms', () => {
  const span = { since: '2026-11-20T12:00:00Z', until: '2026-11-20T13:00:00Z' };

  it('when a subscription is created', () => rejectLongBlocksOf('POST', '', subscription), timeoutMs);

  it(
    'when a subscription is updated',
    () => rejectLongBlocksOf('PATCH', '/:id', { ...subscription, status: 'active' }),
    timeoutMs,
  );

  it(
    'when deliveries are recovered',
    () => rejectLongBlocksOf('POST', '/:id/recover', { ...span, statuses: ['failed'] }, 30),
    timeoutMs,
  );

  it(
    'when a test event is sent',
    () => rejectLongBlocksOf('POST', '/:id/test', { event: 'order.created' }, 30),
    timeoutMs,
  );

  it(
    'when a delivery is retried',
    () => rejectLongBlocksOf('POST', '/:id/deliveries/whd_none/retry', {}, 30),
    timeoutMs,
  );
});
