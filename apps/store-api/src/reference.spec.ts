import { operationsOf } from '@fulfilment/api-reference';
import {
  boundMismatches,
  queryMismatches,
  readDocument,
  registeredRoutes,
} from '@fulfilment/testing/reference';
import request from 'supertest';
import { orderBody, startStoreApi, type StoreApiUnderTest, type Creator } from './test/store-api.fixture.js';

const document = readDocument('store');
const servedByWebhookWorker = /^\/v1\/(webhook|events)/;
const servedWithoutController = /^\/(health|docs|openapi\.json|\.well-known)/;

describe('the API reference of the Store API', () => {
  let store: StoreApiUnderTest;
  let creator: Creator;
  let sku: string;
  let rate: string;
  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
    ({ sku } = await store.release(creator.id));
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  it('describes every route of this service, and no other', () => {
    const expected = operationsOf(document)
      .filter(({ path }) => !servedByWebhookWorker.test(path) && !servedWithoutController.test(path))
      .map(({ method, path }) => `${method} ${path}`);
    const routes = registeredRoutes(store.app.getHttpAdapter().getInstance(), '/store');
    expect(routes.sort()).toEqual(expected.sort());
  });

  const mismatchesOf = (path: string, shape: string, valid: object) =>
    boundMismatches(document, shape, valid, (body) => store.post(path, creator.token, body));

  it('has the same bounds of an order as the validation', async () => {
    const valid = {
      ...orderBody(sku, rate),
      source: { platform: 'shop', store_id: 'store-1', external_order_id: '1001' },
      metadata: { cart: 'c_8841' },
    };
    // The country requires neither city, postal code nor province: such requirements are not in the schema.
    const address = {
      ...valid.shipping_address,
      company: 'Harbour',
      address_line_2: 'Loft',
      province_code: 'DU',
    };
    valid.shipping_address = { ...address, country_code: 'AE' };
    expect(await mismatchesOf('/store/v1/orders', 'PlaceOrderRequest', valid)).toEqual([]);
  });

  it('has the same bounds of an estimate as the validation', async () => {
    const valid = {
      items: [{ sku, quantity: 1 }],
      shipping_address: { country_code: 'GB' },
      shipping_rate_id: rate,
    };
    expect(await mismatchesOf('/store/v1/orders/estimate', 'EstimateOrderRequest', valid)).toEqual([]);
  });

  it('has the same bounds of a quote as the validation', async () => {
    const valid = { country_code: 'GB', items: [{ sku, quantity: 1 }] };
    expect(await mismatchesOf('/store/v1/shipping-rates', 'QuoteRatesRequest', valid)).toEqual([]);
  });

  it.each(['/v1/orders', '/v1/releases'])(
    'has the same bounds of the query of %s as the validation',
    async (path) => {
      const get = async (query: string) => store.get(`/store${path}?${query}`, creator.token);
      expect(await queryMismatches(document, path, {}, get)).toEqual([]);
    },
  );

  it('is served as OpenAPI, with the addresses of this suite', async () => {
    const response = await request(store.server).get('/store/openapi.json').expect(200);
    expect(response.body.servers).toEqual([{ url: `${store.config.BASE_URL}/store` }]);
    expect(response.text).not.toContain('localhost:8443'); // the address in the generated file
    expect(response.get('content-type')).toMatch(/^application\/json/);
    expect(response.get('access-control-allow-origin')).toBe('*');
    expect(response.get('cache-control')).toBe('public, max-age=300');
  });

  it('is served as a page that loads no other resources', async () => {
    const response = await request(store.server).get('/store/docs').expect(200);
    expect(response.get('content-type')).toMatch(/^text\/html/);
    expect(response.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/);
    expect(response.text).not.toMatch(/<(script|link|img|iframe)|\son\w+=|\sstyle=|src=/);
    for (const path of Object.keys(document.paths)) expect(response.text).toContain(`<code>${path}</code>`);
  });

  it.each(['/store/openapi.json', '/store/docs'])(
    'is served at %s to any origin and with an ETag for conditional requests, but not for POST',
    async (path) => {
      const first = await request(store.server).head(path).expect(200);
      const etag = first.get('etag') ?? '';
      const conditional = await request(store.server).get(path).set('if-none-match', etag).expect(304);
      await request(store.server).get(path).set('if-none-match', '*').expect(304);
      const preflight = await request(store.server)
        .options(path)
        .set('origin', 'https://shop.example')
        .set('access-control-request-method', 'GET')
        .expect(204);
      expect(preflight.headers['access-control-allow-origin']).toBe('*');
      expect(conditional.get('etag')).toBe(etag);
      await request(store.server).get(path).set('if-none-match', '"another"').expect(200);
      await request(store.server).post(path).expect(404);
    },
  );
});
