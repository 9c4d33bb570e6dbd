import { operationsOf } from '@fulfilment/api-reference';
import { uuidv7 } from '@fulfilment/contracts';
import {
  boundMismatches,
  mentionsField,
  queryMismatches,
  readDocument,
  registeredRoutes,
} from '@fulfilment/testing/reference';
import request from 'supertest';
import { creatorApi, type CreatorApi, globalAdminClaims } from './test/creator-api.fixture.js';
import { aCreator } from './creators/creator-snapshot.fixture.js';
import { anOrder, paid } from './orders/order-snapshot.fixture.js';

const document = readDocument('creator');
/** Routes without a controller. */
const plainRoutes = /^\/(health|docs|openapi\.json|\.well-known)/;
const operations = operationsOf(document).filter(({ path }) => !plainRoutes.test(path));

const creator = aCreator('org_harbour');
const order = paid(anOrder(creator.id));
const caller = { ...globalAdminClaims, creator_id: creator.id };

/** Valid requests by operation. A test fails for an operation with a body or query that is missing here. */
const bodies: Readonly<Record<string, { path: string; shape: string; body: object }>> = {
  createRelease: {
    path: '/api/v1/releases',
    shape: 'CreateReleaseRequest',
    body: { title: 'Tidal Maps', release_type_id: 1, ean: '2000000000015', creator: creator.id },
  },
  registerTrackUpload: {
    path: `/api/v1/releases/${order.items[0]?.release_id}/track-upload`,
    shape: 'RegisterTrackUploadRequest',
    body: { track_uuid: uuidv7(), upload_url: 'https://127.0.0.1:9/track.wav' },
  },
};
const queries: Readonly<Record<string, { path: string; query: Record<string, string> }>> = {
  listCreators: { path: '/api/v1/creators', query: {} },
  listOrders: { path: '/api/v1/orders', query: { creator: creator.id } },
  exportOrders: { path: '/api/v1/orders/export', query: { creator: creator.id } },
  listReleases: { path: '/api/v1/releases', query: { creator: creator.id } },
  readSalesStatistics: { path: `/api/v1/creators/${creator.id}/stats/sales`, query: { period: '2026-11' } },
  readRoyaltyStatistics: {
    path: `/api/v1/creators/${creator.id}/stats/royalties`,
    query: { period: '2026-11' },
  },
  // Of an unknown creator: its 404 ends the request, while a stream would stay open.
  streamOrders: { path: '/api/v1/order-stream', query: { creator: uuidv7() } },
  listStatements: { path: `/api/v1/creators/${creator.id}/statements`, query: {} },
  listConnectedApps: {
    path: `/api/v1/creators/${creator.id}/apps`,
    query: { from: '2026-01', to: '2026-12' },
  },
  readLedgerLines: {
    path: `/api/v1/creators/${creator.id}/ledger`,
    query: { period: '2026-11', release: uuidv7(), country: 'GB' },
  },
  readStatisticsSeries: {
    path: `/api/v1/creators/${creator.id}/stats/series`,
    query: { from: '2026-01', to: '2026-12', group_by: 'release', release: uuidv7(), country: 'GB' },
  },
};

describe('the OpenAPI document of the Creator API', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi();
    await api.record({ creators: [creator], orders: [order] });
  });
  afterAll(() => api.stop());

  it('documents every route, and no other', () => {
    const routes = registeredRoutes(api.app.getHttpAdapter().getInstance(), '/creator');
    expect(routes.sort()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).sort());
  });

  it.each(operations.filter(({ operation }) => operation.requestBody !== undefined))(
    'documents the same bounds of the body of $method $path as the validation enforces',
    async ({ operation }) => {
      const { path = '', shape = '', body = {} } = bodies[operation.operationId] ?? {};
      expect(path).not.toBe('');
      const mismatches = await boundMismatches(document, shape, body, (changed) =>
        api.post(path, caller, changed),
      );
      expect(mismatches).toEqual([]);
    },
  );

  it.each(
    operations.filter(({ operation }) => operation.parameters?.some((parameter) => parameter.in === 'query')),
  )(
    'documents the same bounds of the query of $method $path as the validation enforces',
    async ({ path, operation }) => {
      const valid = queries[operation.operationId];
      expect(valid).toBeDefined();
      const mismatches = await queryMismatches(document, path, valid?.query ?? {}, (query) =>
        api.get(`${valid?.path}?${query}`, caller),
      );
      expect(mismatches).toEqual([]);
    },
  );

  it.each(operations.filter(({ path }) => path.includes('{')))(
    'describes $method $path, which rejects a malformed UUID and responds with 404 to an unknown one',
    async ({ path, method, operation }) => {
      const send = (id: string) => {
        const url = path.replace(/\{\w+\}/, id).replace('{number}', '1');
        if (method === 'get') {
          const query = new URLSearchParams(queries[operation.operationId]?.query).toString();
          return api.get(`${url}?${query}`, caller);
        }
        return api.post(url, caller, bodies[operation.operationId]?.body ?? {});
      };
      const name = /\{(\w+)\}/.exec(path)?.[1] ?? '';
      for (const malformed of [
        'me',
        uuidv7().slice(1),
        `${uuidv7()}0`,
        '%20',
        'ord_00000000000000000000000000',
      ])
        expect(mentionsField(name, await send(malformed))).toBe(true);
      expect((await send(uuidv7())).status).toBe(404);
    },
  );

  it('is served as JSON with the base URL of this suite, without authentication', async () => {
    const response = await request(api.app.getHttpServer()).get('/creator/openapi.json').expect(200);
    expect(response.body.servers).toEqual([{ url: `${api.tokens.baseUrl}/creator` }]);
    expect(response.text).not.toContain('localhost:8443');
    expect(response.get('content-type')).toMatch(/^application\/json/);
    expect(response.get('access-control-allow-origin')).toBe('*');
    expect(response.get('cache-control')).toBe('public, max-age=300');
    expect(response.get('ratelimit-policy')).toBeUndefined();
  });

  it('is served as an HTML page whose content security policy allows no requests', async () => {
    const response = await request(api.app.getHttpServer()).get('/creator/docs').expect(200);
    expect(response.get('content-type')).toMatch(/^text\/html/);
    expect(response.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/);
    expect(response.text).not.toMatch(/<(script|link|img|iframe)|\son\w+=|\sstyle=|src=/);
    for (const path of Object.keys(document.paths)) expect(response.text).toContain(`<code>${path}</code>`);
  });
});
