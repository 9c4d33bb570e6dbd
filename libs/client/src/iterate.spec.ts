import * as creator from './creator.js';
import * as store from './store.js';
import { FakeApi, json } from './fake-api.fixture.js';

const api = new FakeApi();
beforeAll(() => api.start());
afterAll(() => api.stop());

describe('iterate', () => {
  it('reads the pages of the Store API by their cursor, also after an empty one, with the same filters', async () => {
    const page = (ids: readonly string[], next: string | null) =>
      json(200, {
        data: ids.map((id) => ({ id })),
        pagination: { next_cursor: next, has_more: next !== null },
      });
    api.reply(page(['ord_3', 'ord_2'], 'c2'), page([], 'c3'), page(['ord_1'], null));
    const client = store.createStoreClient(api.options());
    const ids: string[] = [];
    for await (const { id } of store.iterate((cursor) =>
      store.listOrders({ client, query: { status: 'pending', cursor } }),
    ))
      ids.push(id);
    expect(ids).toEqual(['ord_3', 'ord_2', 'ord_1']);
    expect(api.requests.map(({ url }) => url)).toEqual([
      '/v1/orders?status=pending',
      '/v1/orders?status=pending&cursor=c2',
      '/v1/orders?status=pending&cursor=c3',
    ]);
  });

  it('requests no page that the caller does not read', async () => {
    api.reply(json(200, { data: [{ id: 'rel_1' }], pagination: { next_cursor: 'c2', has_more: true } }));
    const client = store.createStoreClient(api.options());
    for await (const { id } of store.iterate((cursor) => store.listReleases({ client, query: { cursor } }))) {
      expect(id).toBe('rel_1');
      break;
    }
    expect(api.requests).toHaveLength(1);
  });

  it('reads the pages of the Creator API by their number', async () => {
    const page = (number: number, uuids: readonly string[]) =>
      json(200, { data: uuids.map((uuid) => ({ uuid })), meta: { page: number, per_page: 2, total: 3 } });
    api.reply(page(1, ['a', 'b']), page(2, ['c']));
    const client = creator.createCreatorClient(api.options());
    const orders = creator.iterate((number) =>
      creator.listOrders({ client, query: { creator: 'c', page: number } }),
    );
    const uuids: string[] = [];
    for await (const { uuid } of orders) uuids.push(uuid);
    expect(uuids).toEqual(['a', 'b', 'c']);
    expect(api.requests.map(({ url }) => url)).toEqual([
      '/api/v1/orders?creator=c&page=1',
      '/api/v1/orders?creator=c&page=2',
    ]);
  });

  it('ends at an empty page of the Creator API, even if the total says that there are more items', async () => {
    api.reply(json(200, { data: [], meta: { page: 1, per_page: 2, total: 9 } }));
    const client = creator.createCreatorClient(api.options());
    const orders = creator.iterate((page) => creator.listOrders({ client, query: { creator: 'c', page } }));
    expect(await orders.next()).toEqual({ done: true, value: undefined });
  });
});
