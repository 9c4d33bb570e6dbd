import { messages, publicId, uuidv7 } from '@fulfilment/contracts';
import { countReplicaReads } from '@fulfilment/database/testing';
import { aProduct } from '../test/snapshots.fixture.js';
import { allHaveStatus, deliveriesOf, orderCreated } from '../test/webhook-worker.fixture.js';
import { setUpWorker } from '../test/worker-setup.fixture.js';
import { withEndedDeliveries } from './ended-deliveries.fixture.js';

const given = setUpWorker({
  WEBHOOK_RETRY_SCHEDULE_MS: '0,50',
  DATABASE_READ_URL: 'postgres://replica.example/test',
});

const longAgo = '2020-01-01T00:00:00Z';
const fourKiB = 'b'.repeat(4_096);

const withDeliveries = (count: number, status: 'succeeded' | 'failed') =>
  withEndedDeliveries(given, count, status);

describe('the delivery history', () => {
  it('is read from the primary while the read replica is absent', async () => {
    const { client, id } = await withDeliveries(1, 'succeeded');
    const { lagging = 0 } = await countReplicaReads(); // an absent replica counts as lagging
    const { body } = await client.get(`/${id}/deliveries`).expect(200);
    await client.get(`/${id}/deliveries/${body.data[0].id}`).expect(200);
    expect(await countReplicaReads()).toEqual({ lagging: lagging + 2 });
  });

  it('lists deliveries newest first in pages, each exactly once', async () => {
    const { client, id } = await withDeliveries(7, 'succeeded');
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const { body } = await client.get(`/${id}/deliveries?limit=3${cursor}`).expect(200);
      seen.push(...body.data.map((row: { id: string }) => row.id));
      if (!body.pagination.has_more) break;
      cursor = `&cursor=${body.pagination.next_cursor}`;
    }
    expect(seen).toHaveLength(7);
    const oldestFirst = await deliveriesOf(given.stores);
    expect(seen).toEqual(oldestFirst.map((row) => publicId('whd', row.id)).toReversed());
    const { body } = await client.get(`/${id}/deliveries?limit=1`);
    expect(body.data[0]).toEqual({
      id: seen[0],
      subscription_id: id,
      event_id: expect.stringMatching(/^evt_/),
      event: 'order.created',
      api_version: '2026-11-01',
      status: 'succeeded',
      failure_reason: null,
      test: false,
      attempt_count: 1,
      next_attempt_at: null,
      last_status_code: 204,
      created_at: expect.any(String),
      completed_at: expect.any(String),
    });
  });

  it('is filtered by status, event, time, and whether it is a test', async () => {
    const { client, id } = await withDeliveries(3, 'failed');
    const count = async (query: string) =>
      (await client.get(`/${id}/deliveries?${query}`).expect(200)).body.data.length;
    expect(await count('status=failed')).toBe(3);
    expect(await count('status=succeeded')).toBe(0);
    expect(await count('event=order.created&test=false')).toBe(3);
    expect(await count('event=order.shipped')).toBe(0);
    expect(await count('test=true')).toBe(0);
    expect(await count(`created_after=${longAgo}`)).toBe(3);
    expect(await count(`created_before=${longAgo}`)).toBe(0);
    expect(await count('created_before=0000-01-01T00:00:00Z')).toBe(0);
  });

  it('rejects invalid filters, with the name of the parameter', async () => {
    const { client, id } = await given.subscriber();
    for (const query of [
      'status=lost',
      'status=failed&status=failed',
      'event=x',
      'event_id=ord_01m7xwmx3fyb2a9s6d4k8q1r7c',
      'event_id=evt_test_evt_01m7xwmx3fyb2a9s6d4k8q1r7c',
      'order_id=1',
      'product_id=ord_01m7xwmx3fyb2a9s6d4k8q1r7c',
      'test=1',
      'created_after=yesterday',
      'created_after=2026-02-30T00:00:00Z',
      'created_after=2026-02-28T24:00:00Z',
      'created_before=2026-01-01T00:00:00%2B24:00',
      'limit=0',
      'limit=101',
      'cursor=x',
    ]) {
      const response = await client.get(`/${id}/deliveries?${query}`).expect(400);
      expect(response.body.details[0].field).toBe(query.split('=')[0]);
    }
  });

  it('rejects a cursor with another filter than that of its list', async () => {
    const { client, id } = await withDeliveries(2, 'failed');
    const { body } = await client.get(`/${id}/deliveries?limit=1`).expect(200);
    await client.get(`/${id}/deliveries?status=failed&cursor=${body.pagination.next_cursor}`).expect(400);
  });

  it('leads from an event or an order to its deliveries, with other filters too', async () => {
    const { client, id } = await withDeliveries(3, 'succeeded');
    const idsOf = async (query: string): Promise<string[]> =>
      (await client.get(`/${id}/deliveries?${query}`).expect(200)).body.data.map(
        (delivery: { id: string }) => delivery.id,
      );
    for (const { headers, body } of given.receiver.deliveries) {
      const [delivery, order] = [headers['x-service-delivery'], String(body.data['order_id'])];
      expect(await idsOf(`event_id=${body.id}`)).toEqual([delivery]);
      expect(await idsOf(`order_id=${order}&status=succeeded&event=order.created&limit=1`)).toEqual([
        delivery,
      ]);
      expect(await idsOf(`order_id=${order}&status=failed`)).toEqual([]);
      expect(await idsOf(`order_id=${order}&event=order.shipped`)).toEqual([]);
      expect(await idsOf(`order_id=${order}&test=true`)).toEqual([]);
      expect(await idsOf(`order_id=${order}&created_before=${longAgo}`)).toEqual([]);
      expect(await idsOf(`order_id=${order}&event_id=${body.id}`)).toEqual([delivery]);
    }
    const [first, second] = given.receiver.deliveries;
    const order = String(first?.body.data['order_id']);
    expect(await idsOf(`order_id=${order}&event_id=${second?.body.id}`)).toEqual([]);
    expect(await idsOf(`product_id=${publicId('prod', uuidv7())}`)).toEqual([]);
    const other = await client.subscribe(`${given.receiver.url}/other`);
    const { body } = await client.get(`/${other}/deliveries?event_id=${first?.body.id}`).expect(200);
    expect(body.data).toEqual([]);
  });

  it('leads from a product to the deliveries of its events, in pages', async () => {
    const { client, id } = await given.subscriber(['product.*']);
    const products = [aProduct(client.creatorId), aProduct(client.creatorId)];
    for (const product of [...products, ...products])
      await given.publish(messages.productInStock.make({ product }, { occurredAt: new Date() }));
    await given.deliveriesWhen(allHaveStatus(4, 'succeeded'));
    const filter = `product_id=${publicId('prod', products[0]?.id ?? '')}&limit=1`;
    const first = await client.get(`/${id}/deliveries?${filter}`).expect(200);
    const next = `&cursor=${first.body.pagination.next_cursor}`;
    const second = await client.get(`/${id}/deliveries?${filter}${next}`).expect(200);
    expect(first.body.data).toHaveLength(1);
    expect(second.body).toMatchObject({
      data: [{ event: 'product.in_stock' }],
      pagination: { has_more: false },
    });
    expect(second.body.data[0].id).not.toBe(first.body.data[0].id);
    await client.get(`/${id}/deliveries?limit=1${next}`).expect(400);
  });

  it('finds a test event by its id', async () => {
    const { client, id } = await withDeliveries(1, 'succeeded');
    const { body: test } = await client.post({}, `/${id}/test`).expect(202);
    const { body } = await client.get(`/${id}/deliveries?event_id=${test.event_id}`).expect(200);
    expect(body.data).toEqual([expect.objectContaining({ id: test.id, test: true })]);
  });

  it('accepts a time as shown: exclusive in created_after and created_before, inclusive in a recovery', async () => {
    const { client, id } = await withDeliveries(1, 'failed');
    const [{ created_at: shown }] = (await client.get(`/${id}/deliveries`)).body.data;
    expect((await client.get(`/${id}/deliveries?created_after=${shown}`)).body.data).toEqual([]);
    expect((await client.get(`/${id}/deliveries?created_before=${shown}`)).body.data).toEqual([]);
    const { body } = await client.post({ since: shown, until: shown }, `/${id}/recover`).expect(202);
    expect(body.matched).toBe(1);
    await given.deliveriesWhen(allHaveStatus(1, 'succeeded'));
  });

  it('shows the payload and each attempt', async () => {
    const { client, id } = await withDeliveries(1, 'failed');
    const listed = (await client.get(`/${id}/deliveries`)).body.data[0];
    const { body } = await client.get(`/${id}/deliveries/${listed.id}`).expect(200);
    expect(body).toMatchObject({
      ...listed,
      payload: given.receiver.deliveries[0]?.body,
      failure_reason: 'exhausted',
    });
    expect(body.attempts).toEqual(
      [1, 2].map((number) => ({
        number,
        trigger: 'auto',
        started_at: expect.any(String),
        duration_ms: expect.any(Number),
        outcome: 'http_error',
        status_code: 500,
        response_headers: expect.any(Object),
        response_body: '',
        response_truncated: false,
      })),
    );
  });

  it.each([
    { kind: 'of 4 KiB as a whole', sent: fourKiB, kept: fourKiB, isTruncated: false },
    { kind: 'of more than 4 KiB, truncated', sent: `${fourKiB}b`, kept: fourKiB, isTruncated: true },
    {
      kind: 'of three-byte characters, none of them split',
      sent: '€'.repeat(2_000),
      kept: '€'.repeat(1_365), // 4095 bytes
      isTruncated: true,
    },
  ])('keeps a response $kind', async ({ sent, kept, isTruncated }) => {
    const { client, id } = await given.subscriber();
    given.receiver.respondWith((response) => response.writeHead(200).end(sent));
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(allHaveStatus(1, 'succeeded'));
    const [listed] = (await client.get(`/${id}/deliveries`)).body.data;
    expect((await client.get(`/${id}/deliveries/${listed.id}`)).body.attempts).toMatchObject([
      { response_body: kept, response_truncated: isTruncated },
    ]);
  });

  it('is hidden from other clients with 404, like unknown deliveries', async () => {
    const { client, id } = await withDeliveries(1, 'succeeded');
    const delivery = (await client.get(`/${id}/deliveries`)).body.data[0].id;
    const other = await given.client();
    await other.get(`/${id}/deliveries`).expect(404);
    await other.get(`/${id}/deliveries/${delivery}`).expect(404);
    await other.post({}, `/${id}/deliveries/${delivery}/retry`).expect(404);
    await other.post({}, `/${id}/test`).expect(404);
    await other.post({ since: longAgo }, `/${id}/recover`).expect(404);
    await client.get(`/${id}/deliveries/whd_00000000000000000000000000`).expect(404);
    await client.post({}, `/${id}/deliveries/nonsense/retry`).expect(404);
    const own = await client.subscribe(given.receiver.url);
    await client.get(`/${own}/deliveries/${delivery}`).expect(404);
  });
});

describe('a recovery', () => {
  it('retries failed deliveries of the span, is logged with its id, and matches nothing when repeated', async () => {
    const { client, id } = await withDeliveries(5, 'failed');
    expect(
      (await client.post({ since: longAgo, until: longAgo }, `/${id}/recover`).expect(202)).body.matched,
    ).toBe(0);
    expect((await client.post({ since: longAgo, statuses: ['held'] }, `/${id}/recover`)).body.matched).toBe(
      0,
    );
    const { body } = await client.post({ since: longAgo }, `/${id}/recover`).expect(202);
    expect(body).toEqual({ id: expect.stringMatching(/^whr_/), matched: 5 });
    expect(given.worker.logged('A recovery of webhook deliveries was started.')).toContainEqual(
      expect.objectContaining({
        recovery_id: body.id,
        subscription_id: id,
        since: longAgo,
        until: null,
        matched: 5,
      }),
    );
    await given.deliveriesWhen(allHaveStatus(5, 'succeeded'));
    expect((await client.post({ since: longAgo }, `/${id}/recover`)).body.matched).toBe(0);
  });

  it('is rejected with 409 while the subscription is disabled', async () => {
    const { client, id } = await withDeliveries(1, 'failed');
    await client.patch(id, { status: 'disabled' });
    await client.post({ since: longAgo }, `/${id}/recover`).expect(409);
  });

  it.each([
    [{}, 'since'],
    [{ since: 'monday' }, 'since'],
    [{ since: '2026-11-20' }, 'since'],
    [{ since: '2026-11-20T24:00:00Z' }, 'since'],
    [{ since: '2026-11-20T00:00:00Z', until: '2026-11-19T00:00:00Z' }, 'until'],
    [{ since: longAgo, statuses: ['succeeded'] }, 'statuses'],
    [{ since: longAgo, statuses: [] }, 'statuses'],
  ])('rejects %j because of %s', async (input, field) => {
    const { client, id } = await given.subscriber();
    const response = await client.post(input, `/${id}/recover`).expect(400);
    expect(response.body.details[0].field).toBe(field);
  });
});
