import { messages } from '@fulfilment/contracts';
import { eventually } from '@fulfilment/testing';
import request from 'supertest';
import { type StoreApiUnderTest, startStoreApi, type Creator } from '../../test/store-api.fixture.js';

interface ReadOptions {
  readonly ifNoneMatch?: string | undefined;
  /** By default, the token of the creator of the releases. */
  readonly token?: string;
}

describe('the ETag of release reads', () => {
  let store: StoreApiUnderTest;
  let creator: Creator;
  let id: string;
  let sku: string;

  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
    const release = await store.release(creator.id, [{ quantity: 5 }]);
    id = release.id;
    sku = release.sku;
  });
  afterAll(() => store.stop());

  const read = (path: string, { ifNoneMatch, token = creator.token }: ReadOptions = {}) => {
    const get = request(store.server).get(`/store/v1/releases${path}`).auth(token, { type: 'bearer' });
    return ifNoneMatch === undefined ? get : get.set('If-None-Match', ifNoneMatch);
  };
  const tagOf = async (path: string, token = creator.token): Promise<string> =>
    String((await read(path, { token })).headers['etag']);

  it.each(['', '?format=detailed', '?search=tidal&currency=JPY', '/:id'])(
    'leads to 304 without a body while nothing has changed: /v1/releases%s',
    async (pathOrQuery) => {
      const path = pathOrQuery.replace(':id', id);
      const first = await read(path);
      expect(first.headers).toMatchObject({
        etag: expect.stringMatching(/^"[\w-]{27}"$/), // 162 bits of a SHA-256 in base64url
        'cache-control': 'private, no-cache',
        'content-type': 'application/json; charset=utf-8',
      });
      const tag = String(first.headers['etag']);
      for (const condition of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const conditional = await read(path, { ifNoneMatch: condition }).set('X-Request-Id', 'mine');
        expect([conditional.status, conditional.text]).toEqual([304, '']);
        expect(conditional.headers).toMatchObject({
          etag: tag,
          'cache-control': 'private, no-cache',
          'x-request-id': 'mine',
          ratelimit: expect.any(String),
          'ratelimit-policy': expect.any(String),
        });
        expect(conditional.headers).not.toHaveProperty('content-type');
      }
    },
  );

  it('differs by currency, format, page size and creator, and after a change of the stock', async () => {
    const otherCreator = await store.creator();
    await store.release(creator.id); // a second one, so that a page of one differs
    const tags = await Promise.all([
      tagOf(`/${id}`),
      tagOf(`/${id}?currency=USD`),
      tagOf(''),
      tagOf('?currency=USD'),
      tagOf('?format=detailed'),
      tagOf('?limit=1'),
      tagOf('', otherCreator.token),
    ]);
    expect(new Set(tags).size).toBe(7);
    await store.broker.publish(
      messages.fulfilmentStockSet.make({ sku, quantity: 4 }, { occurredAt: new Date() }),
    );
    await eventually(async () => (await tagOf(`/${id}`)) !== tags[0]);
    expect((await read(`/${id}`, { ifNoneMatch: tags[0] })).status).toBe(200);
  });

  it('does not lead to 304 for another creator, an invalid token or an invalid query', async () => {
    const otherCreator = await store.creator();
    const tag = await tagOf(`/${id}`);
    expect((await read(`/${id}`, { ifNoneMatch: tag, token: otherCreator.token })).status).toBe(404);
    expect((await read(`/${id}`, { ifNoneMatch: '*', token: 'nonsense' })).status).toBe(401);
    expect((await read('?limit=0', { ifNoneMatch: '*' })).status).toBe(400);
  });
});
