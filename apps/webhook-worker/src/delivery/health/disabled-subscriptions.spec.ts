import { webhookReceiver } from '@fulfilment/testing';
import type { ServerResponse } from 'node:http';
import { haveStatuses, orderCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { deliveryMetrics } from '../delivery-metrics.js';

const given = setUpWorker();

describe('a subscription', () => {
  it('is disabled at once by a 410; later deliveries are held, and released on re-enabling', async () => {
    const { client, id } = await given.subscriber();
    given.receiver.respondWith((response) => response.writeHead(410).end());
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(haveStatuses('failed'));
    const { body } = await client.get(`/${id}`);
    expect(body).toMatchObject({ status: 'disabled', consecutive_failures: 1 });
    expect(body.disabled_at).not.toBeNull();
    expect((await client.get()).body).toEqual({ data: [] }); // the list has active subscriptions only
    expect(given.worker.logged('A webhook subscription was disabled.')).toContainEqual(
      expect.objectContaining({ subscription_id: id, reason: 'gone' }),
    );

    await given.publish(orderCreated(client.creatorId));
    await given.reconcileUntil(haveStatuses('failed', 'held'));
    expect(given.receiver.deliveries).toHaveLength(1);

    given.receiver.respondWith((response) => response.writeHead(204).end());
    const enabled = await client.patch(id, { status: 'active' });
    expect(enabled.body).toMatchObject({ status: 'active', consecutive_failures: 0, disabled_at: null });
    await given.deliveriesWhen(haveStatuses('failed', 'succeeded'));
  });

  it('does not add deliveries that were held to the metric of the time to the first attempt', async () => {
    const measuredCount = async () =>
      (await deliveryMetrics.eventToFirstAttempt.get()).values.find(({ metricName }) =>
        metricName?.endsWith('_count'),
      )?.value ?? 0;
    const { client, id } = await given.subscriber();
    const before = await measuredCount();
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(haveStatuses('succeeded'));
    expect(await measuredCount()).toBe(before + 1);

    await client.patch(id, { status: 'disabled' });
    await given.publish(orderCreated(client.creatorId));
    await given.reconcileUntil(haveStatuses('succeeded', 'held'));
    await client.patch(id, { status: 'active' });
    await given.deliveriesWhen(haveStatuses('succeeded', 'succeeded'));
    expect(await measuredCount()).toBe(before + 1);
  });

  it('releases its held deliveries when it is enabled at a new URL during a manual retry at the old one', async () => {
    const { client, id } = await given.subscriber();
    await client.patch(id, { status: 'disabled' });
    await given.publish(orderCreated(client.creatorId));
    await given.reconcileUntil(haveStatuses('held'));
    const requested = Promise.withResolvers<ServerResponse>();
    given.receiver.respondWith((response) => requested.resolve(response));
    const [delivery] = (await client.get(`/${id}/deliveries`)).body.data;
    await client.post({}, `/${id}/deliveries/${delivery.id}/retry`).expect(202);
    const response = await requested.promise;
    const other = await webhookReceiver();
    try {
      await client.patch(id, { status: 'active', url: other.url }).expect(200);
      response.writeHead(500).end();
      await other.waitFor(1);
    } finally {
      await other.stop();
    }
  });
});
