import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { isSignedWith, haveStatuses } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';

const given = setUpWorker({ WEBHOOK_RETRY_SCHEDULE_MS: '0,50' });
const setApiVersion = statement(
  'test.set-api-version',
  'UPDATE webhook_subscriptions SET api_version = $2 WHERE id = $1',
);

describe('a test event', () => {
  it('is sent like a real event, marked as a test, and is in the history', async () => {
    const { client, id } = await given.subscriber(['order.shipped'], 'secret');
    const { body, headers } = await client.post({}, `/${id}/test`).expect(202);
    expect(body).toMatchObject({
      test: true,
      event: 'order.shipped',
      event_id: expect.stringMatching(/^evt_test_/),
    });
    expect(headers['location']).toBe(`https://suite.localhost/store/v1/webhooks/${id}/deliveries/${body.id}`);
    const [delivery] = await given.receiver.waitFor(1);
    expect(delivery?.headers['x-service-test']).toBe('true');
    expect(
      isSignedWith('secret', delivery?.headers['x-service-signature'], delivery?.rawBody ?? Buffer.alloc(0)),
    ).toBe(true);
    expect(delivery?.body).toMatchObject({ id: body.event_id, event: 'order.shipped' });
    expect(Object.keys(delivery?.body.data ?? {}).sort()).toEqual([
      'carrier',
      'order_id',
      'tracking_number',
      'tracking_url',
      'updated_at',
    ]);
    expect(delivery?.body.data['order_id']).toMatch(/^ord_test_/);
    await given.deliveriesWhen(haveStatuses('succeeded'));
    expect((await client.get(`/${id}/deliveries?test=true`)).body.data).toHaveLength(1);
  });

  it('has the api_version of its subscription', async () => {
    const { client, id } = await given.subscriber();
    await given.stores.database.run(setApiVersion, [parsePublicId('whk', id), '2026-05-01']);
    const { body } = await client.post({}, `/${id}/test`).expect(202);
    expect(body.api_version).toBe('2026-05-01');
    const [delivery] = await given.receiver.waitFor(1);
    expect(delivery?.body.api_version).toBe('2026-05-01');
  });

  it('is sent once while the subscription is disabled, and does not affect its health', async () => {
    const { client, id } = await given.subscriber();
    await client.patch(id, { status: 'disabled' });
    given.receiver.respondWith((response) => response.writeHead(410).end());
    await client.post({}, `/${id}/test`).expect(202);
    const [row] = await given.deliveriesWhen(haveStatuses('failed'));
    expect(row?.attempt_count).toBe(1);
    expect((await client.get(`/${id}`)).body).toMatchObject({
      consecutive_failures: 0,
      last_failure_at: null,
    });
  });
});
