import { ApiClient, send } from '../suite/api-client.js';
import { errorOf, fieldsOf } from '../suite/error-envelope.js';
import { dashboardToken } from '../suite/sign-in.js';
import { demoUser } from '../suite/the-suite.js';

const harbour = demoUser('owner@harbour.example');
const routes = {
  'the Store API': '/store/v1/orders',
  'the webhooks of the Store API': '/store/v1/webhooks',
  'the Creator API': '/creator/api/v1/releases',
};

let permitted: ApiClient;
let unscoped: ApiClient;
beforeAll(async () => {
  permitted = new ApiClient(
    await dashboardToken(harbour, ['orders:create', 'webhooks:create', 'shipping:read']),
  );
  unscoped = new ApiClient(await dashboardToken(harbour));
});

describe.each(Object.entries(routes))('%s', (_name, path) => {
  it('requires a token, with a challenge that names the metadata', async () => {
    const response = await send('post', path).send({}).expect(401);
    expect(errorOf(response).code).toBe('UNAUTHORIZED');
    const challenge = response.get('www-authenticate') ?? '';
    expect(challenge).toMatch(/^Bearer /);
    const [, address = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
    const metadata = await send('get', new URL(address).pathname).expect(200);
    expect(metadata.body.authorization_servers).toHaveLength(1);
  });

  it.each(['garbage', 'eyJhbGciOiJub25lIn0.e30.', ''])('rejects the token "%s"', async (token) => {
    const response = await send('post', path).set('authorization', `Bearer ${token}`).send({}).expect(401);
    expect(errorOf(response).code).toBe('UNAUTHORIZED');
  });

  it.each([
    ['malformed JSON', '{"title":', 'application/json', 400],
    ['an array', '[]', 'application/json', 400],
    ['a form', 'title=a', 'application/x-www-form-urlencoded', 415],
    ['more than 256 KiB', JSON.stringify({ pad: 'x'.repeat(262_144) }), 'application/json', 413],
    ['more than the limit of the gateway, 320 KiB', 'x'.repeat(400 * 1024), 'application/json', 413],
  ])('rejects a body of %s', async (_case, body, type, status) => {
    const response = await permitted.send('post', path).set('content-type', type).send(body).expect(status);
    expect(errorOf(response).code).toBe('VALIDATION_ERROR');
  });

  it('names a missing member in the response to an empty object', async () => {
    expect(fieldsOf(await permitted.post(path, {}).expect(400)).length).toBeGreaterThan(0);
  });

  it("returns the caller's request id, or a new one if the caller's is invalid", async () => {
    expect((await send('post', path).set('x-request-id', 'shop-42/a')).get('x-request-id')).toBe('shop-42/a');
    const replaced = await send('post', path).set('x-request-id', '<bad id>');
    expect(replaced.get('x-request-id')).toMatch(/^[\w-]{32,36}$/); // 32 digits or a UUID
  });
});

describe('error responses', () => {
  it.each([
    ['get', '/store/v1/nothing'],
    ['put', '/store/v1/orders'],
    ['delete', '/store/v1/releases'],
    ['get', '/store/v2/orders'],
    ['put', '/store/v1/webhooks'],
    ['get', '/creator/api/v1/nothing'],
    ['delete', '/creator/api/v1/creators'],
    ['get', '/store/health/nothing'],
  ] as const)('have the status 404 for %s %s', async (method, path) => {
    expect(errorOf(await permitted.send(method, path).expect(404)).code).toBe('NOT_FOUND');
  });

  it('are chosen in order: 401, then 403, then 400', async () => {
    const malformed = (client: ApiClient) =>
      client.send('post', '/store/v1/orders').set('content-type', 'application/json').send('{');
    await malformed(new ApiClient('garbage')).expect(401);
    const rejected = await malformed(unscoped).expect(403);
    expect(errorOf(rejected).code).toBe('FORBIDDEN');
    expect(rejected.get('www-authenticate')).toContain('insufficient_scope');
    await malformed(permitted).expect(400);
  });

  it('name every invalid member by its path', async () => {
    const response = await permitted
      .post('/store/v1/orders', {
        items: [{ sku: 'x', quantity: 0, unit_price: { amount: 1.5, currency: 'XXX' } }],
        shipping_address: { full_name: ' ', address_line_1: 'a', country_code: 'ZZ' },
        shipping_rate_id: 5,
      })
      .expect(400);
    expect(new Set(fieldsOf(response))).toEqual(
      new Set([
        'items.0.quantity',
        'items.0.unit_price.amount',
        'items.0.unit_price.currency',
        'shipping_address.full_name',
        'shipping_address.country_code',
        'shipping_rate_id',
      ]),
    );
  });

  it('name a query parameter that is repeated', async () => {
    const reader = new ApiClient(await dashboardToken(harbour, ['releases:read']));
    expect(fieldsOf(await reader.get('/store/v1/releases?limit=1&limit=2').expect(400))).toEqual(['limit']);
  });
});

it('a successful response has the remaining quota in its headers', async () => {
  const response = await permitted.post('/store/v1/shipping-rates', { country_code: 'GB' }).expect(200);
  expect(response.get('ratelimit-policy')).toMatch(/^"quotes";q=\d+;w=\d+$/);
  expect(response.get('ratelimit')).toMatch(/^"quotes";r=\d+;t=\d+$/);
});
