/** Tests of DPoP-bound access tokens (RFC 9449). */
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  type GenerateKeyPairResult,
  SignJWT,
} from 'jose';
import { createHash, randomUUID } from 'node:crypto';
import request from 'supertest';
import type { TokenMaker } from '@fulfilment/testing';
import { freshAddress, type SmallApi, smallApi } from '../small-api.fixture.js';

const generate = (algorithm = 'ES256') => generateKeyPair(algorithm, { extractable: true });
const nowSeconds = () => Math.floor(Date.now() / 1000);
const tokenHash = (token: string) => createHash('sha256').update(token).digest('base64url');

describe('a DPoP-bound access token', () => {
  let authServer: TokenMaker;
  let api: SmallApi;
  let keys: GenerateKeyPairResult;
  let otherKeys: GenerateKeyPairResult;
  let token: string;
  const boundToken = async (by: GenerateKeyPairResult = keys, claims: object = {}) =>
    authServer.token({
      scope: 'orders:read orders:create',
      cnf: { jkt: await calculateJwkThumbprint(await exportJWK(by.publicKey)) },
      ...claims,
    });
  beforeAll(async () => {
    api = await smallApi();
    ({ authServer } = api);
    keys = await generate();
    otherKeys = await generate();
    token = await boundToken();
  });
  afterAll(() => api.stop());

  /** Claims of a proof for a GET of the notes with the token. */
  const proofClaims = () => ({
    jti: randomUUID(),
    iat: nowSeconds(),
    htm: 'GET',
    htu: `${authServer.baseUrl}/store/notes`,
    ath: tokenHash(token),
  });
  /** Creates a proof (RFC 9449 §4.2). Arguments override claims and header members; undefined omits one. */
  const proof = async (
    claims: Readonly<Record<string, unknown>> = {},
    { header = {}, by = keys }: { header?: object; by?: GenerateKeyPairResult } = {},
  ) =>
    new SignJWT({ ...proofClaims(), ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(by.publicKey), ...header })
      .sign(by.privateKey);
  /** Sends a GET with a proof; by default with the token of `beforeAll`, from another address each time. */
  const get = (
    dpop: string | undefined,
    {
      accessToken = token,
      path = '/store/notes',
      scheme = 'DPoP',
      address = freshAddress(),
    }: { accessToken?: string; path?: string; scheme?: string; address?: string } = {},
  ) => {
    const pending = request(api.url)
      .get(path)
      .set('x-forwarded-for', address)
      .set('authorization', `${scheme} ${accessToken}`);
    return dpop === undefined ? pending : pending.set('dpop', dpop);
  };

  it('is accepted with a proof for the request, whatever the query and the case of the scheme (RFC 9449 §7.1)', async () => {
    await get(await proof()).expect(200);
    await get(await proof(), { path: '/store/notes?limit=1&cursor=x' }).expect(200);
    await get(await proof(), { scheme: 'dpop' }).expect(200);
  });

  it.each(['Ed25519', 'ES256'])('is accepted with a proof signed by %s', async (alg) => {
    const by = await generate(alg);
    const accessToken = await boundToken(by);
    await get(await proof({ ath: tokenHash(accessToken) }, { by, header: { alg } }), { accessToken }).expect(
      200,
    );
  });

  it.each([
    ['the host in upper case', 'https://SUIte.localhost/store/notes'],
    ['the default port', 'https://suite.localhost:443/store/notes'],
    ['a query and a fragment', 'https://suite.localhost/store/notes?limit=1#x'],
    ['a dot segment', 'https://suite.localhost/store/./notes'],
  ])('is accepted when the proof spells the URL with %s (§4.3)', async (_, htu) => {
    await get(await proof({ htu })).expect(200);
  });

  it('is accepted for a POST with a proof for a POST, and rejected with one for a GET', async () => {
    const post = async (dpop: string) =>
      request(api.url)
        .post('/store/notes')
        .set({ 'x-forwarded-for': freshAddress(), authorization: `DPoP ${token}`, dpop })
        .send({ title: 'A note', quantity: 1 });
    expect((await post(await proof({ htm: 'POST' }))).status).toBe(201);
    expect((await post(await proof())).status).toBe(401);
  });

  const wrongProofs: Readonly<Record<string, () => Promise<string | undefined>>> = {
    'no proof': () => Promise.resolve(undefined),
    'an empty proof': () => Promise.resolve(''),
    'a proof that is no JWT': () => Promise.resolve('nonsense'),
    'two proofs': async () => `${await proof()}, ${await proof()}`,
    'another typ': () => proof({}, { header: { typ: 'JWT' } }),
    'no typ': () => proof({}, { header: { typ: undefined } }),
    "another key than the token's": () => proof({}, { by: otherKeys }),
    'the signature of another key': async () =>
      proof({}, { by: otherKeys, header: { jwk: await exportJWK(keys.publicKey) } }),
    'no key in its header': () => proof({}, { header: { jwk: undefined } }),
    'a private key in its header': async () =>
      proof({}, { header: { jwk: await exportJWK(keys.privateKey) } }),
    'an algorithm that is not allowed': async () => {
      const by = await generate('RS256');
      return proof({}, { by, header: { alg: 'RS256' } });
    },
    'a symmetric signature': () =>
      new SignJWT(proofClaims())
        .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk: { kty: 'oct' } })
        .sign(Buffer.from('secret'.repeat(8))),
    'no signature': async () => {
      const [header, payload] = (await proof()).split('.');
      return `${header}.${payload}.`;
    },
    'another method': () => proof({ htm: 'POST' }),
    'the method in lower case': () => proof({ htm: 'get' }),
    'no method': () => proof({ htm: undefined }),
    'another path': () => proof({ htu: `${authServer.baseUrl}/store/notes/quoted` }),
    'the path in upper case': () => proof({ htu: `${authServer.baseUrl}/store/NOTES` }),
    'a slash at the end': () => proof({ htu: `${authServer.baseUrl}/store/notes/` }),
    'another host': () => proof({ htu: 'https://evil.example/store/notes' }),
    'another port': () => proof({ htu: 'https://suite.localhost:8443/store/notes' }),
    'plain http': () => proof({ htu: 'http://suite.localhost/store/notes' }),
    'user information': () => proof({ htu: 'https://me@suite.localhost/store/notes' }),
    'a path alone': () => proof({ htu: '/store/notes' }),
    'a URL that is no text': () => proof({ htu: 7 }),
    'the hash of another token': async () => proof({ ath: tokenHash(await boundToken()) }),
    'no hash of the token': () => proof({ ath: undefined }),
    'no time': () => proof({ iat: undefined }),
    'a time that is text': () => proof({ iat: String(nowSeconds()) }),
    'a time ten minutes ago': () => proof({ iat: nowSeconds() - 600 }),
    'a time in ten minutes': () => proof({ iat: nowSeconds() + 600 }),
    'an expiry in the past': () => proof({ exp: nowSeconds() - 60 }),
    'no id': () => proof({ jti: undefined }),
    'an empty id': () => proof({ jti: '' }),
    'an id of a thousand characters': () => proof({ jti: 'x'.repeat(1000) }),
  };
  it.each(Object.keys(wrongProofs))('is rejected with %s (§4.3)', async (name) => {
    const rejected = await get(await wrongProofs[name]?.()).expect(401);
    expect(rejected.body.code).toBe('UNAUTHORIZED');
    expect(rejected.headers['www-authenticate']).toBe(
      `DPoP realm="api", resource_metadata="${authServer.baseUrl}/.well-known/oauth-protected-resource/store", error="invalid_dpop_proof", algs="ES256 Ed25519 EdDSA"`,
    );
  });

  it('is rejected with a used proof at every replica (§11.1)', async () => {
    const replica = await smallApi({ authServer });
    try {
      const sameProof = await proof();
      await get(sameProof).expect(200);
      await get(sameProof).expect(401);
      await request(replica.url)
        .get('/store/notes')
        .set({ 'x-forwarded-for': freshAddress(), authorization: `DPoP ${token}`, dpop: sameProof })
        .expect(401);
    } finally {
      await replica.stop();
    }
  });

  it('is accepted once when twenty concurrent requests have the same proof', async () => {
    const sameProof = await proof();
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await get(sameProof)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  it('is accepted with a proof that was sent before in a rejected request', async () => {
    const sameProof = await proof();
    await get(sameProof, { path: '/store/notes/unknown' }).expect(404);
    const otherToken = await boundToken();
    await get(sameProof, { accessToken: otherToken }).expect(401);
    await get(sameProof).expect(200);
  });

  it('is accepted with five more proofs from a network that exhausted its anonymous quota with invalid ones', async () => {
    const address = freshAddress();
    const send = (dpop: string | undefined) => get(dpop, { address });
    await send(await proof()).expect(200); // the token is cached
    const wrong = await proof({ ath: undefined });
    for (let attempt = 0; attempt < 5; attempt += 1) await send(wrong).expect(401);
    await send(wrong).expect(429);
    const responses = await Promise.all(Array.from({ length: 60 }, async () => send(await proof())));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(5);
    for (const { status, headers } of responses.filter((response) => response.status !== 200)) {
      expect(status).toBe(429);
      expect(headers['ratelimit-policy']).toBe('"anonymous";q=5;w=86400');
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    await get(await proof()).expect(200); // from another network
  });

  it('is rejected when it is sent as Bearer, with or without a proof (§7.2)', async () => {
    for (const dpop of [undefined, await proof()]) {
      const rejected = await get(dpop, { scheme: 'Bearer' }).expect(401);
      expect(rejected.headers['www-authenticate']).toMatch(/^Bearer .*error="invalid_token"/);
    }
  });

  it('is the only token that the scheme DPoP accepts; a proof with a bearer token is ignored', async () => {
    const bearer = await authServer.token({ scope: 'orders:read' });
    const rejected = await get(await proof({ ath: tokenHash(bearer) }), { accessToken: bearer }).expect(401);
    expect(rejected.headers['www-authenticate']).toMatch(/^DPoP .*error="invalid_token".*algs=/);
    await get(await proof({ ath: tokenHash(bearer) }), { accessToken: bearer, scheme: 'Bearer' }).expect(200);
  });

  it('gets a DPoP challenge that names a missing scope', async () => {
    const withoutScopes = await boundToken(keys, { scope: '' });
    const rejected = await get(await proof({ ath: tokenHash(withoutScopes) }), {
      accessToken: withoutScopes,
    }).expect(403);
    expect(rejected.headers['www-authenticate']).toBe(
      `DPoP realm="api", resource_metadata="${authServer.baseUrl}/.well-known/oauth-protected-resource/store", error="insufficient_scope", scope="orders:read", algs="ES256 Ed25519 EdDSA"`,
    );
  });

  it('may be sent by a page of any origin; the metadata has the algorithms of proofs (RFC 9728 §2)', async () => {
    const preflight = await request(api.url)
      .options('/store/notes')
      .set({
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,dpop',
      })
      .expect(204);
    expect(preflight.headers['access-control-allow-headers']).toContain('dpop');
    const { body } = await request(api.url).get('/.well-known/oauth-protected-resource/store').expect(200);
    expect(body).toMatchObject({
      dpop_signing_alg_values_supported: ['ES256', 'Ed25519', 'EdDSA'],
      dpop_bound_access_tokens_required: false,
    });
  });

  it('is accepted with a proof, but not without one, while Redis is down', async () => {
    const withoutRedis = await smallApi({ authServer, redisUrl: 'redis://127.0.0.1:1/0' });
    try {
      await request(withoutRedis.url)
        .get('/store/notes')
        .set({ authorization: `DPoP ${token}`, dpop: await proof() })
        .expect(200);
      await request(withoutRedis.url)
        .get('/store/notes')
        .set({ authorization: `DPoP ${token}` })
        .expect(401);
    } finally {
      await withoutRedis.stop();
    }
  });
});
