import { metrics } from '@fulfilment/runtime';
import { randomBytes, randomUUID } from 'node:crypto';
import request from 'supertest';
import type { TokenMaker } from '@fulfilment/testing';
import { freshAddress, type SmallApi, smallApi } from '../small-api.fixture.js';

describe('an API that requires access tokens', () => {
  let authServer: TokenMaker;
  let api: SmallApi;
  beforeAll(async () => {
    api = await smallApi();
    ({ authServer } = api);
  });
  afterAll(() => api.stop());

  const send = (method: 'get' | 'post', path: string, token?: string, from = freshAddress()) => {
    const pending = request(api.url)[method](path).set('x-forwarded-for', from);
    return token === undefined ? pending : pending.set('authorization', `Bearer ${token}`);
  };

  it('passes subject, client and creator of the token to the controller', async () => {
    const token = await authServer.token({
      sub: 'somebody',
      client_id: 'an-app',
      creator_id: 'a-creator',
      scope: 'orders:read',
    });
    const response = await send('get', '/store/notes', token).expect(200);
    expect(response.body).toEqual({ subject: 'somebody', client: 'an-app', creator: 'a-creator' });
  });

  it('names the resource metadata in the challenge, and serves it (RFC 9728)', async () => {
    const rejected = await send('get', '/store/notes').expect(401);
    expect(rejected.body).toEqual({
      statusCode: 401,
      code: 'UNAUTHORIZED',
      error: 'Unauthorized',
      message: expect.any(String),
    });
    expect(rejected.headers['www-authenticate']).toBe(
      `Bearer realm="api", resource_metadata="${authServer.baseUrl}/.well-known/oauth-protected-resource/store"`,
    );
    const metadata = await request(api.url).get('/.well-known/oauth-protected-resource/store').expect(200);
    expect(metadata.body).toMatchObject({
      resource: `${authServer.baseUrl}/store`,
      authorization_servers: [`${authServer.authUrl}/api/auth`],
      bearer_methods_supported: ['header'],
    });
  });

  it('responds with error="invalid_token" to an invalid token, and without an error to a missing one (RFC 6750 §3.1)', async () => {
    const withoutToken = await send('get', '/store/notes').expect(401);
    const withInvalidToken = await send('get', '/store/notes', 'nonsense').expect(401);
    expect(withoutToken.headers['www-authenticate']).not.toContain('error=');
    expect(withInvalidToken.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  it('names the missing scope in the challenge', async () => {
    const rejected = await send(
      'get',
      '/store/notes',
      await authServer.token({ scope: 'orders:create' }),
    ).expect(403);
    expect(rejected.body.code).toBe('FORBIDDEN');
    expect(rejected.headers['www-authenticate']).toBe(
      `Bearer realm="api", resource_metadata="${authServer.baseUrl}/.well-known/oauth-protected-resource/store", error="insufficient_scope", scope="orders:read"`,
    );
  });

  it('accepts the scheme in any case, and a token only from the header', async () => {
    const token = await authServer.token({ scope: 'orders:read' });
    await request(api.url).get('/store/notes').set('authorization', `bearer ${token}`).expect(200);
    await send('get', `/store/notes?access_token=${token}`).expect(401);
  });

  it('counts requests per client and creator, returns the remaining quota, and then responds with 429 and Retry-After', async () => {
    const client = { scope: 'shipping:read', client_id: randomUUID() };
    const token = await authServer.token({ ...client, creator_id: 'one' });
    const first = await send('get', '/store/notes/quoted', token).expect(200);
    expect(first.headers['ratelimit-policy']).toBe('"quotes";q=2;w=86400');
    expect(first.headers.ratelimit).toBe('"quotes";r=1;t=43200'); // a request returns every 43,200 seconds
    await send('get', '/store/notes/quoted', token).expect(200);
    const third = await send('get', '/store/notes/quoted', token).expect(429);
    expect(third.body).toMatchObject({ statusCode: 429, code: 'RATE_LIMITED', error: 'Too Many Requests' });
    expect(Number(third.headers['retry-after'])).toBeGreaterThanOrEqual(43_100);
    expect(Number(third.headers['retry-after'])).toBeLessThanOrEqual(43_200);
    expect(third.headers.ratelimit).toMatch(/^"quotes";r=0;t=\d+$/);
    await send('get', '/store/notes/quoted', await authServer.token({ ...client, creator_id: 'two' })).expect(
      200,
    );
    const otherClient = { ...client, client_id: randomUUID(), creator_id: 'one' };
    await send('get', '/store/notes/quoted', await authServer.token(otherClient)).expect(200);
  });

  it('counts requests without a valid token by address, and still accepts valid tokens from it', async () => {
    const address = freshAddress();
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await send('get', '/store/notes', 'nonsense', address).expect(401);
    }
    const rejected = await send('get', '/store/notes', undefined, address).expect(429);
    expect(rejected.headers['ratelimit-policy']).toBe('"anonymous";q=5;w=86400');
    await send('get', '/store/notes', 'nonsense').expect(401);
    await send('get', '/store/notes', await authServer.token({ scope: 'orders:read' }), address).expect(200);
  });

  it('limits all addresses of an IPv6 /64 like one address, and those of a /56 to four times as many requests', async () => {
    const prefix48 = `2001:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}`;
    // 0x0100 to 0x0103 are four /64 networks of one /56, which also has 0x01fe, but not 0x0200.
    for (let network = 0; network < 4; network += 1) {
      for (let host = 1; host <= 5; host += 1) {
        await send('get', '/store/notes', 'nonsense', `${prefix48}:10${network}::${host}`).expect(401);
      }
      await send('get', '/store/notes', 'nonsense', `${prefix48}:10${network}::ffff`).expect(429);
    }
    // Another /64 of the same /56, whose four times five requests are used.
    await send('get', '/store/notes', 'nonsense', `${prefix48}:1fe::1`).expect(429);
    await send('get', '/store/notes', 'nonsense', `${prefix48}:200::1`).expect(401); // another /56
  });

  it('responds with the first applicable status of 401, 429, 403 and 400', async () => {
    const invalidBody = { title: 5 };
    const client = { client_id: randomUUID(), creator_id: 'one' };
    const withoutScopes = await authServer.token({ ...client, scope: '' });
    const expired = await authServer.token({ ...client, exp: 1 });
    const valid = await authServer.token({ ...client, scope: 'orders:create' });
    await send('post', '/store/notes').send(invalidBody).expect(401);
    await send('get', '/store/notes/quoted', withoutScopes).expect(403);
    await send('get', '/store/notes/quoted', withoutScopes).expect(403);
    await send('get', '/store/notes/quoted', withoutScopes).expect(429); // before the 403
    await send('get', '/store/notes/quoted', expired).expect(401); // before the 429
    await send('post', '/store/notes', withoutScopes).send(invalidBody).expect(403); // before the 400
    await send('post', '/store/notes', valid).send(invalidBody).expect(400);
  });

  it('requires no token on a public route', async () => {
    await send('get', '/store/notes/open').expect(200, { open: true });
    await send('get', '/store/notes/open', 'nonsense').expect(200, { open: true });
  });

  it('verifies five new tokens of a network that exhausted its anonymous quota, and accepts cached ones', async () => {
    const address = freshAddress();
    const known = await authServer.token({ scope: 'orders:read' });
    await send('get', '/store/notes', known, address).expect(200);
    for (let attempt = 0; attempt < 5; attempt += 1)
      await send('get', '/store/notes', 'nonsense', address).expect(401);
    await send('get', '/store/notes', 'nonsense', address).expect(429);
    const fresh = await Promise.all(
      Array.from({ length: 60 }, async () =>
        send('get', '/store/notes', await authServer.token({ scope: 'orders:read' }), address),
      ),
    );
    const accepted = fresh.filter(({ status }) => status === 200).length;
    expect(accepted).toBe(5); // so another client of the network can still use a new token
    for (const { status, headers } of fresh.filter((response) => response.status !== 200)) {
      expect(status).toBe(429);
      expect(headers['ratelimit-policy']).toBe('"anonymous";q=5;w=86400');
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    await send('get', '/store/notes', known, address).expect(200);
  });
});

describe('an API while Redis is down', () => {
  it('does not limit requests, sends no RateLimit header, and counts failed commands', async () => {
    const api = await smallApi({ redisUrl: 'redis://127.0.0.1:1/0' });
    const before = await failOpenCounts();
    try {
      const token = await api.authServer.token({ scope: 'shipping:read' });
      for (let attempt = 0; attempt < 4; attempt += 1) {
        const response = await request(api.url)
          .get('/store/notes/quoted')
          .set('authorization', `Bearer ${token}`)
          .expect(200);
        expect(response.headers.ratelimit).toBeUndefined();
      }
      const after = await failOpenCounts();
      for (const use of ['rate-limit', 'revoked-tokens'])
        expect(after[use]).toBeGreaterThan(before[use] ?? 0);
    } finally {
      await api.stop();
    }
  });
});

/** The values of `redis_fail_open_total` by use. */
async function failOpenCounts(): Promise<Record<string, number>> {
  const counted = await metrics.getSingleMetric('redis_fail_open_total')?.get();
  return Object.fromEntries(counted?.values.map(({ labels, value }) => [labels['use'], value]) ?? []);
}
