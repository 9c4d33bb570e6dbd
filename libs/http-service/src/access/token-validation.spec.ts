import { jest } from '@jest/globals';
import { revokedTokenKey } from '@fulfilment/contracts';
import { unknownCriticalParameter, storeUrl, type TokenMaker } from '@fulfilment/testing';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { Redis } from 'ioredis';
import { createHmac, randomUUID } from 'node:crypto';
import request from 'supertest';
import { z } from 'zod';
import { RedisConnection } from '../redis/redis.js';
import { freshAddress, type SmallApi, smallApi } from '../small-api.fixture.js';

const jwks = z.object({ keys: z.array(z.record(z.string(), z.string())) });

describe('an API', () => {
  let authServer: TokenMaker;
  let api: SmallApi;
  beforeAll(async () => {
    api = await smallApi();
    ({ authServer } = api);
  });
  afterAll(() => api.stop());

  const send = (token: string, { url } = api) =>
    request(url)
      .get('/store/notes')
      .set('x-forwarded-for', freshAddress())
      .set('authorization', `Bearer ${token}`);
  const claimsOf = (changes: Readonly<Record<string, unknown>> = {}) => ({
    iss: `${authServer.authUrl}/api/auth`,
    sub: 'test-subject',
    aud: `${authServer.baseUrl}/store`,
    client_id: 'test-client',
    scope: 'orders:read',
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1000),
    exp: Math.floor(Date.now() / 1000) + 600,
    ...changes,
  });

  const attacks: Readonly<Record<string, () => Promise<string>>> = {
    'alg none': () => Promise.resolve(new UnsecuredJWT(claimsOf()).encode()),
    'alg none in the header of a signed token': async () => {
      const [, payload] = (await authServer.token({ scope: 'orders:read' })).split('.');
      const header = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
      return `${header}.${payload}.`;
    },
    'HS256 keyed with the public key': async () => {
      const [jwk] = jwks.parse(await (await fetch(authServer.jwksUrl)).json()).keys;
      const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const signed = `${part({ alg: 'HS256', kid: 'test', typ: 'at+jwt' })}.${part(claimsOf())}`;
      const signature = createHmac('sha256', JSON.stringify(jwk)).update(signed).digest('base64url');
      return `${signed}.${signature}`;
    },
    'the signature of another key with the id of the published key': async () => {
      const { privateKey } = await generateKeyPair('ES256');
      return new SignJWT(claimsOf())
        .setProtectedHeader({ alg: 'ES256', kid: 'test', typ: 'at+jwt' })
        .sign(privateKey);
    },
    'a key at a URL that the token names (jku)': async () => {
      const { privateKey } = await generateKeyPair('ES256');
      return new SignJWT(claimsOf())
        .setProtectedHeader({ alg: 'ES256', kid: 'mine', typ: 'at+jwt', jku: 'https://evil.example/jwks' })
        .sign(privateKey);
    },
    'a changed payload': async () => {
      const [header, , signature] = (await authServer.token({ scope: '' })).split('.');
      return `${header}.${Buffer.from(JSON.stringify(claimsOf())).toString('base64url')}.${signature}`;
    },
    'a signature whose last letter differs only in unused bits': async () => {
      const token = await authServer.token({ scope: 'orders:read' });
      const next = { A: 'B', Q: 'R', g: 'h', w: 'x' }[token.slice(-1)] ?? '';
      return `${token.slice(0, -1)}${next}`;
    },
    'a signature of zeros (CVE-2022-21449)': async () => {
      const token = await authServer.token({ scope: 'orders:read' });
      return `${token.slice(0, token.lastIndexOf('.'))}.${Buffer.alloc(64).toString('base64url')}`;
    },
    'a header with a critical extension (RFC 7515 §4.1.11)': () =>
      authServer.token(
        { scope: 'orders:read' },
        { crit: [unknownCriticalParameter], [unknownCriticalParameter]: 1 },
      ),
    'an expiry that is text': () => authServer.token({ scope: 'orders:read', exp: '4102444800' }),
    'a not-before time that is text': () => authServer.token({ scope: 'orders:read', nbf: '0' }),
    'claims that are no object': async () => {
      const [header, , signature] = (await authServer.token({ scope: '' })).split('.');
      return `${header}.${Buffer.from('[]').toString('base64url')}.${signature}`;
    },
    'another audience': () =>
      authServer.token({
        scope: 'orders:read',
        aud: [`${authServer.baseUrl}/creator`, 'https://other.example'],
      }),
    'another issuer': () => authServer.token({ scope: 'orders:read', iss: 'https://evil.example/api/auth' }),
    'an ID token (typ JWT)': () => authServer.token({ scope: 'orders:read' }, { typ: 'JWT' }),
    'no typ': () => authServer.token({ scope: 'orders:read' }, { typ: undefined }),
    'an expired token': () =>
      authServer.token({ scope: 'orders:read', exp: Math.floor(Date.now() / 1000) - 10 }),
    'a token that is not valid yet': () =>
      authServer.token({ scope: 'orders:read', nbf: Math.floor(Date.now() / 1000) + 300 }),
    'a token whose time of issue is text': () => authServer.token({ scope: 'orders:read', iat: '0' }),
    'a token that names no key': () => authServer.token({ scope: 'orders:read' }, { kid: undefined }),
    'a token bound to a key, as Bearer': () =>
      authServer.token({ scope: 'orders:read', cnf: { jkt: 'thumbprint' } }),
    ...Object.fromEntries(
      ['exp', 'iat', 'sub', 'jti', 'client_id', 'aud', 'iss'].map((claim) => [
        `a token without ${claim}`,
        () => authServer.token({ scope: 'orders:read', [claim]: undefined }),
      ]),
    ),
  };
  it.each(Object.keys(attacks))('rejects %s', async (name) => {
    const token = (await attacks[name]?.()) ?? '';
    expect(token).not.toBe('');
    const rejected = await send(token).expect(401);
    expect(rejected.body.code).toBe('UNAUTHORIZED');
  });

  it('rejects a token one second after its revocation, although it is cached', async () => {
    const jti = randomUUID();
    const token = await authServer.token({ scope: 'orders:read', jti });
    await send(token).expect(200);
    const redis = new Redis(storeUrl('TEST_REDIS_URL'));
    await redis.set(revokedTokenKey(jti), '1', 'EX', 60);
    await redis.quit();
    const monotonicMs = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => monotonicMs() + 1_000);
    try {
      const rejected = await send(token).expect(401);
      expect(rejected.headers['www-authenticate']).toContain('error="invalid_token"');
    } finally {
      clock.mockRestore();
    }
  });

  it('queries Redis for the revocation of a token at most once in 100 ms', async () => {
    const token = await authServer.token({ scope: 'orders:read' });
    const commands = jest.spyOn(RedisConnection.prototype, 'tryCommand');
    const queries = () => commands.mock.calls.filter(([use]) => use === 'revoked-tokens').length;
    const startedAtMs = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(startedAtMs);
    try {
      const counts: number[] = [];
      for (const elapsedMs of [0, 99, 101]) {
        clock.mockReturnValue(startedAtMs + elapsedMs);
        await send(token).expect(200);
        counts.push(queries());
      }
      expect(counts).toEqual([1, 1, 2]);
    } finally {
      clock.mockRestore();
      commands.mockRestore();
    }
  });

  it.each([
    ['accepts', 'issued 5 s in the future', { iat: 5, exp: 600 }, 200],
    ['rejects', 'issued 6 s in the future', { iat: 6, exp: 600 }, 401],
    ['accepts', 'valid for an hour and the tolerated 5 s', { iat: 0, exp: 3_605 }, 200],
    ['rejects', 'valid for a second longer than that', { iat: 0, exp: 3_606 }, 401],
  ])('%s a token that is %s', async (_, _description, { iat, exp }, status) => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(nowSeconds * 1000);
    try {
      const times = { iat: nowSeconds + iat, exp: nowSeconds + exp };
      await send(await authServer.token({ scope: 'orders:read', ...times })).expect(status);
    } finally {
      clock.mockRestore();
    }
  });

  it('accepts a token until 5 s after its expiry, to tolerate clock skew, also if it is cached', async () => {
    const exp = Math.floor(Date.now() / 1000) + 600;
    const [token, other] = [
      await authServer.token({ scope: 'orders:read', exp }),
      await authServer.token({ scope: 'orders:read', exp }),
    ];
    const clock = jest.spyOn(Date, 'now').mockReturnValue((exp + 5) * 1000 - 5);
    try {
      await send(token).expect(200);
      await send(token).expect(200); // cached
      clock.mockReturnValue((exp + 5) * 1000 + 5);
      await send(token).expect(401);
      await send(other).expect(401);
    } finally {
      clock.mockRestore();
    }
  });

  it('responds with 503, not 401, when the signing keys cannot be read', async () => {
    const withoutKeys = await smallApi({ authServer, jwksUrl: 'http://127.0.0.1:1/jwks' });
    try {
      const response = await send(await authServer.token({ scope: 'orders:read' }), withoutKeys).expect(503);
      expect(response.body.code).toBe('SERVICE_UNAVAILABLE');
      expect(response.headers['retry-after']).toBe('1');
    } finally {
      await withoutKeys.stop();
    }
  });
});
