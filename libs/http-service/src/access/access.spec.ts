/** Tests of access control in libs/http-service, which must not import libs/testing. */
import { revokedTokenKey } from '@fulfilment/contracts';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { Redis } from 'ioredis';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import request from 'supertest';
import { z } from 'zod';
import { criticalRule, eventually, storeUrl, type TokenMaker, tokenMaker } from '@fulfilment/testing';
import { freshAddress, type SmallApi, smallApi } from '../small-api.fixture.js';

const jwks = z.object({ keys: z.array(z.record(z.string(), z.string())) });

describe('access to an API', () => {
  let maker: TokenMaker;
  let api: SmallApi;
  beforeAll(async () => {
    maker = await tokenMaker();
    api = await smallApi(maker);
  });
  afterAll(async () => {
    await api.stop();
    await maker.stop();
  });

  const send = (method: 'get' | 'post', path: string, token?: string, from = freshAddress()) => {
    const made = request(api.url)[method](path).set('x-forwarded-for', from);
    return token === undefined ? made : made.set('authorization', `Bearer ${token}`);
  };
  const claimsOf = (changes: Readonly<Record<string, unknown>> = {}) => ({
    iss: `${maker.authUrl}/api/auth`,
    sub: 'somebody',
    aud: `${maker.baseUrl}/store`,
    client_id: 'test-client',
    scope: 'orders:read',
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1000),
    exp: Math.floor(Date.now() / 1000) + 600,
    ...changes,
  });

  it('passes the caller to the controller', async () => {
    const token = await maker.token({
      sub: 'somebody',
      client_id: 'an-app',
      creator_id: 'a-creator',
      scope: 'orders:read',
    });
    const answer = await send('get', '/store/notes', token).expect(200);
    expect(answer.body).toEqual({ subject: 'somebody', client: 'an-app', creator: 'a-creator' });
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
      `Bearer realm="api", resource_metadata="${maker.baseUrl}/.well-known/oauth-protected-resource/store"`,
    );
    const metadata = await request(api.url).get('/.well-known/oauth-protected-resource/store').expect(200);
    expect(metadata.body).toMatchObject({
      resource: `${maker.baseUrl}/store`,
      authorization_servers: [`${maker.authUrl}/api/auth`],
      bearer_methods_supported: ['header'],
    });
  });

  it('responds with error="invalid_token" to an invalid token, and without an error to a missing one (RFC 6750 §3.1)', async () => {
    const none = await send('get', '/store/notes').expect(401);
    const bad = await send('get', '/store/notes', 'nonsense').expect(401);
    expect(none.headers['www-authenticate']).not.toContain('error=');
    expect(bad.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  it('names the missing scope in the challenge', async () => {
    const rejected = await send('get', '/store/notes', await maker.token({ scope: 'orders:create' })).expect(
      403,
    );
    expect(rejected.body.code).toBe('FORBIDDEN');
    expect(rejected.headers['www-authenticate']).toContain('error="insufficient_scope", scope="orders:read"');
  });

  it('accepts the scheme in any case, and a token only from the header', async () => {
    const token = await maker.token({ scope: 'orders:read' });
    await request(api.url).get('/store/notes').set('authorization', `bearer ${token}`).expect(200);
    await send('get', `/store/notes?access_token=${token}`).expect(401);
  });

  describe('token validation', () => {
    const attacks: Readonly<Record<string, () => Promise<string>>> = {
      'alg none': () => Promise.resolve(new UnsecuredJWT(claimsOf()).encode()),
      'alg none in the header of a signed token': async () => {
        const [, payload] = (await maker.token({ scope: 'orders:read' })).split('.');
        const header = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
        return `${header}.${payload}.`;
      },
      'HS256 keyed with the public key': async () => {
        const [jwk] = jwks.parse(await (await fetch(maker.jwksUrl)).json()).keys;
        const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
        const signed = `${part({ alg: 'HS256', kid: 'test', typ: 'at+jwt' })}.${part(claimsOf())}`;
        const signature = createHmac('sha256', JSON.stringify(jwk)).update(signed).digest('base64url');
        return `${signed}.${signature}`;
      },
      'a foreign key under our key id': async () => {
        const { privateKey } = await generateKeyPair('ES256');
        return new SignJWT(claimsOf())
          .setProtectedHeader({ alg: 'ES256', kid: 'test', typ: 'at+jwt' })
          .sign(privateKey);
      },
      'a key that comes with the token': async () => {
        const { privateKey } = await generateKeyPair('ES256');
        return new SignJWT(claimsOf())
          .setProtectedHeader({ alg: 'ES256', kid: 'mine', typ: 'at+jwt', jku: 'https://evil.example/jwks' })
          .sign(privateKey);
      },
      'a changed payload': async () => {
        const [header, , signature] = (await maker.token({ scope: '' })).split('.');
        return `${header}.${Buffer.from(JSON.stringify(claimsOf())).toString('base64url')}.${signature}`;
      },
      'a signature whose last letter is another with the same bits': async () => {
        const token = await maker.token({ scope: 'orders:read' });
        const next = { A: 'B', Q: 'R', g: 'h', w: 'x' }[token.slice(-1)] ?? '';
        return `${token.slice(0, -1)}${next}`;
      },
      'a signature of zeros (CVE-2022-21449)': async () => {
        const token = await maker.token({ scope: 'orders:read' });
        return `${token.slice(0, token.lastIndexOf('.'))}.${Buffer.alloc(64).toString('base64url')}`;
      },
      'a header with what must be understood (RFC 7515 §4.1.11)': () =>
        maker.token({ scope: 'orders:read' }, { crit: [criticalRule], [criticalRule]: 1 }),
      'a time that is text': () => maker.token({ scope: 'orders:read', exp: '4102444800' }),
      'a beginning that is text': () => maker.token({ scope: 'orders:read', nbf: '0' }),
      'claims that are no object': async () => {
        const [header, , signature] = (await maker.token({ scope: '' })).split('.');
        return `${header}.${Buffer.from('[]').toString('base64url')}.${signature}`;
      },
      'another audience': () =>
        maker.token({ scope: 'orders:read', aud: [`${maker.baseUrl}/creator`, 'https://other.example'] }),
      'another issuer': () => maker.token({ scope: 'orders:read', iss: 'https://evil.example/api/auth' }),
      'an ID token (typ JWT)': () => maker.token({ scope: 'orders:read' }, { typ: 'JWT' }),
      'no typ': () => maker.token({ scope: 'orders:read' }, { typ: undefined }),
      'an expired token': () =>
        maker.token({ scope: 'orders:read', exp: Math.floor(Date.now() / 1000) - 10 }),
      'a token that is not valid yet': () =>
        maker.token({ scope: 'orders:read', nbf: Math.floor(Date.now() / 1000) + 300 }),
      'a token that is valid for longer than the authorization server issues tokens for': () =>
        maker.token({ scope: 'orders:read', exp: Math.floor(Date.now() / 1000) + 3_610 }),
      'a token that was issued in the future': () =>
        maker.token({ scope: 'orders:read', iat: Math.floor(Date.now() / 1000) + 30 }),
      'a token whose time of issue is text': () => maker.token({ scope: 'orders:read', iat: '0' }),
      'a token that names no key': () => maker.token({ scope: 'orders:read' }, { kid: undefined }),
      'a token bound to a key, as Bearer': () =>
        maker.token({ scope: 'orders:read', cnf: { jkt: 'thumbprint' } }),
      ...Object.fromEntries(
        ['exp', 'iat', 'sub', 'jti', 'client_id', 'aud', 'iss'].map((claim) => [
          `a token without ${claim}`,
          () => maker.token({ scope: 'orders:read', [claim]: undefined }),
        ]),
      ),
    };
    it.each(Object.keys(attacks))('rejects %s', async (name) => {
      const token = (await attacks[name]?.()) ?? '';
      expect(token).not.toBe('');
      const rejected = await send('get', '/store/notes', token).expect(401);
      expect(rejected.body.code).toBe('UNAUTHORIZED');
    });
  });

  it('rejects a token within a second of its revocation, also if it is cached', async () => {
    const jti = randomUUID();
    const token = await maker.token({ scope: 'orders:read', jti });
    await send('get', '/store/notes', token).expect(200);
    const redis = new Redis(storeUrl('TEST_REDIS_URL'));
    await redis.set(revokedTokenKey(jti), '1', 'EX', 60);
    await redis.quit();
    const rejected = await eventually(async () => {
      const answer = await send('get', '/store/notes', token);
      return answer.status === 401 ? answer : undefined;
    }, 1_000);
    expect(rejected.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  it('rejects a token 5 s after its expiry, to tolerate clock skew, also if it is cached', async () => {
    const exp = Math.floor(Date.now() / 1000) - 3;
    const token = await maker.token({ scope: 'orders:read', exp });
    await send('get', '/store/notes', token).expect(200);
    await send('get', '/store/notes', token).expect(200);
    await new Promise((resolve) => setTimeout(resolve, (exp + 5) * 1000 - Date.now() + 5));
    await send('get', '/store/notes', token).expect(401);
  });

  it('counts per client and creator, returns the remaining quota, and responds with 429 and Retry-After', async () => {
    const client = { scope: 'shipping:read', client_id: randomUUID() };
    const token = await maker.token({ ...client, creator_id: 'one' });
    const first = await send('get', '/store/notes/quoted', token).expect(200);
    expect(first.headers['ratelimit-policy']).toBe('"quotes";q=2;w=60');
    expect(first.headers.ratelimit).toBe('"quotes";r=1;t=30');
    await send('get', '/store/notes/quoted', token).expect(200);
    const third = await send('get', '/store/notes/quoted', token).expect(429);
    expect(third.body).toMatchObject({ statusCode: 429, code: 'RATE_LIMITED', error: 'Too Many Requests' });
    expect(Number(third.headers['retry-after'])).toBeGreaterThanOrEqual(29);
    expect(Number(third.headers['retry-after'])).toBeLessThanOrEqual(30);
    expect(third.headers.ratelimit).toMatch(/^"quotes";r=0;t=\d+$/);
    await send('get', '/store/notes/quoted', await maker.token({ ...client, creator_id: 'two' })).expect(200);
  });

  it('counts requests without a valid token by address', async () => {
    const address = freshAddress();
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await send('get', '/store/notes', 'nonsense', address).expect(401);
    }
    const rejected = await send('get', '/store/notes', undefined, address).expect(429);
    expect(rejected.headers['ratelimit-policy']).toBe('"anonymous";q=5;w=60');
    await send('get', '/store/notes', 'nonsense').expect(401);
    await send('get', '/store/notes', await maker.token({ scope: 'orders:read' }), address).expect(200);
  });

  it('counts every address of an IPv6 /64 together, and of a /56 with four times the limit', async () => {
    const site = `2001:db8:${randomBytes(2).toString('hex')}`;
    for (let network = 0; network < 4; network += 1) {
      for (let host = 1; host <= 5; host += 1) {
        await send('get', '/store/notes', 'nonsense', `${site}:10${network}::${host}`).expect(401);
      }
      await send('get', '/store/notes', 'nonsense', `${site}:10${network}::ffff`).expect(429);
    }
    await send('get', '/store/notes', 'nonsense', `${site}:1fe::1`).expect(429);
    await send('get', '/store/notes', 'nonsense', `${site}:200::1`).expect(401);
  });

  it('counts an IPv4-mapped IPv6 address as the IPv4 address', async () => {
    const address = freshAddress();
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await send('get', '/store/notes', 'nonsense', `::ffff:${address}`).expect(401);
    }
    await send('get', '/store/notes', 'nonsense', address).expect(429);
  });

  it('checks in order: 401, 429, 403, 400', async () => {
    const bad = { title: 5 };
    const client = { client_id: randomUUID(), creator_id: 'one' };
    const none = { ...client, scope: '' };
    await send('post', '/store/notes').send(bad).expect(401);
    await send('get', '/store/notes/quoted', await maker.token(none)).expect(403);
    await send('get', '/store/notes/quoted', await maker.token(none)).expect(403);
    await send('get', '/store/notes/quoted', await maker.token(none)).expect(429); // before the 403
    const expired = { ...client, exp: 1 };
    await send('get', '/store/notes/quoted', await maker.token(expired)).expect(401); // before the 429
    await send('post', '/store/notes', await maker.token(none))
      .send(bad)
      .expect(403); // before the 400
    await send('post', '/store/notes', await maker.token({ ...client, scope: 'orders:create' }))
      .send(bad)
      .expect(400);
  });

  it('requires no token on a public route', async () => {
    await send('get', '/store/notes/open').expect(200, { open: true });
    await send('get', '/store/notes/open', 'nonsense').expect(200, { open: true });
  });
});

describe('access control while a dependency is down', () => {
  let maker: TokenMaker;
  beforeAll(async () => {
    maker = await tokenMaker();
  });
  afterAll(() => maker.stop());
  let api: SmallApi;
  afterEach(() => api.stop());

  it('allows requests without limits and rate headers while Redis is down', async () => {
    api = await smallApi(maker, { redisUrl: 'redis://127.0.0.1:1/0' });
    const token = await maker.token({ scope: 'shipping:read' });
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const answer = await request(api.url)
        .get('/store/notes/quoted')
        .set('authorization', `Bearer ${token}`)
        .expect(200);
      expect(answer.headers.ratelimit).toBeUndefined();
    }
  });

  it('verifies few signatures for a network without anonymous quota, and none of cached tokens', async () => {
    api = await smallApi(maker);
    const address = freshAddress();
    const send = (token: string) =>
      request(api.url)
        .get('/store/notes')
        .set('authorization', `Bearer ${token}`)
        .set('x-forwarded-for', address);
    const known = await maker.token({ scope: 'orders:read' });
    await send(known).expect(200);
    for (let attempt = 0; attempt < 5; attempt += 1) await send('nonsense').expect(401);
    await send('nonsense').expect(429);
    const fresh = await Promise.all(
      Array.from({ length: 60 }, async () => send(await maker.token({ scope: 'orders:read' }))),
    );
    const taken = fresh.filter(({ status }) => status === 200).length;
    expect(taken).toBeGreaterThan(0); // a neighbour with a new token
    expect(taken).toBeLessThan(30);
    for (const { status, headers } of fresh.filter((answer) => answer.status !== 200)) {
      expect(status).toBe(429);
      expect(headers['ratelimit-policy']).toBe('"anonymous";q=5;w=60');
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    await send(known).expect(200);
  });

  it('responds with 503, not 401, when the signing keys cannot be read', async () => {
    api = await smallApi(maker, { jwksUrl: 'http://127.0.0.1:1/jwks' });
    const answer = await request(api.url)
      .get('/store/notes')
      .set('authorization', `Bearer ${await maker.token({ scope: 'orders:read' })}`)
      .expect(503);
    expect(answer.body.code).toBe('SERVICE_UNAVAILABLE');
    expect(answer.headers['retry-after']).toBe('1');
  });
});
