import { audiences, messages, publicId, uuidv7 } from '@fulfilment/contracts';
import { anOrder } from '../test/snapshots.fixture.js';
import { haveStatuses } from '../test/webhook-worker.fixture.js';
import { setUpWorker } from '../test/worker-setup.fixture.js';
import request from 'supertest';

const given = setUpWorker();

interface Listed {
  readonly data: readonly { readonly client_id: string; readonly event: string; readonly status: string }[];
  readonly pagination: { readonly next_cursor: string | null };
}

async function list(token: string, query: string, expected = 200): Promise<Listed> {
  const path = `/store/v1/webhook-deliveries?${query}`;
  const response = await request(given.worker.server).get(path).auth(token, { type: 'bearer' });
  expect(response.status).toBe(expected);
  return response.body;
}

/** Delivers the creation of an order to two apps, and that of another order. */
async function deliveredOrder() {
  const store = { aud: audiences(given.stores.tokens.baseUrl).store };
  const first = await given.client(store);
  const sameCreator = { ...store, creator_id: first.creatorId };
  const second = await given.client(sameCreator);
  // First-party: without `aud`, the token is for the Creator API, too.
  const dashboard = await given.client({ creator_id: first.creatorId });
  await first.subscribe(given.receiver.url, ['order.created']);
  await second.subscribe(given.receiver.url, ['order.*']);
  const order = anOrder(first.creatorId);
  await given.publish(
    ...[order, anOrder(first.creatorId)].map((placed) =>
      messages.orderCreated.make({ order: placed }, { occurredAt: new Date() }),
    ),
  );
  await given.deliveriesWhen(haveStatuses('succeeded', 'succeeded', 'succeeded', 'succeeded'));
  return { first, second, dashboard, order: publicId('ord', order.id) };
}

describe('the deliveries about an order', () => {
  it('are those of an app, and of all apps of the creator for a first-party app', async () => {
    const { first, second, dashboard, order } = await deliveredOrder();
    const clientsOf = async (token: string) =>
      (await list(token, `order_id=${order}`)).data.map(({ client_id }) => client_id).toSorted();
    expect(await clientsOf(first.token)).toEqual([first.claims.client_id]);
    expect(await clientsOf(second.token)).toEqual([second.claims.client_id]);
    const both = [first, second].map(({ claims }) => claims.client_id).toSorted();
    expect(await clientsOf(dashboard.token)).toEqual(both);
    const [delivery] = (await list(first.token, `order_id=${order}`)).data;
    expect(delivery).toMatchObject({ event: 'order.created', status: 'succeeded' });
  });

  it('come in pages, each once', async () => {
    const { dashboard, order } = await deliveredOrder();
    const firstPage = await list(dashboard.token, `order_id=${order}&limit=1`);
    const secondPage = await list(
      dashboard.token,
      `order_id=${order}&limit=1&cursor=${firstPage.pagination.next_cursor}`,
    );
    expect(new Set([...firstPage.data, ...secondPage.data].map(({ client_id }) => client_id)).size).toBe(2);
    expect(secondPage.pagination.next_cursor).toBeNull();
  });

  it('have cursors that are valid only for the same order and client', async () => {
    const { first, dashboard, order } = await deliveredOrder();
    const page = await list(dashboard.token, `order_id=${order}&limit=1`);
    const cursor = `cursor=${page.pagination.next_cursor}`;
    await list(dashboard.token, `order_id=${order}&${cursor}`);
    const other = publicId('ord', uuidv7());
    for (const [token, id] of [
      [dashboard.token, other],
      [first.token, order],
    ] as const)
      expect(await list(token, `order_id=${id}&${cursor}`, 400)).toMatchObject({
        details: [{ field: 'cursor' }],
      });
  });

  it('are none for another creator, for an unknown order, and without a creator', async () => {
    const { order } = await deliveredOrder();
    const other = await given.client();
    const without = await given.client({ creator_id: undefined });
    expect((await list(other.token, `order_id=${order}`)).data).toEqual([]);
    expect((await list(other.token, `order_id=${publicId('ord', uuidv7())}`)).data).toEqual([]);
    expect((await list(without.token, `order_id=${order}`)).data).toEqual([]);
  });

  it('need an order and the scope webhooks:read', async () => {
    const client = await given.client();
    const unscoped = await given.client({ scope: 'orders:read' });
    for (const query of ['', 'order_id=1', 'order_id=prod_01m7xwmx3fyb2a9s6d4k8q1r7c'])
      expect(await list(client.token, query, 400)).toMatchObject({ details: [{ field: 'order_id' }] });
    await list(unscoped.token, `order_id=${publicId('ord', uuidv7())}`, 403);
  });
});
