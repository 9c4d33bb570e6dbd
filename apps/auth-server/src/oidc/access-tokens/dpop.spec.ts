import {
  calculateJwkThumbprint,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  type GenerateKeyPairResult,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { createHash, randomUUID } from 'node:crypto';
import * as client from 'openid-client';
import { App } from '../../test/app.fixture.js';
import { json } from '../../test/json.fixture.js';
import { server, startServer } from '../../test/server.fixture.js';

startServer();
let app: App;
let keys: GenerateKeyPairResult;
let otherKeys: GenerateKeyPairResult;
beforeAll(async () => {
  app = await App.register(server);
  keys = await generateKeyPair('ES256', { extractable: true });
  otherKeys = await generateKeyPair('ES256', { extractable: true });
});

const endpointUrl = (path: string) => `${server.url}/api/auth/oauth2/${path}`;

/** Creates a proof (RFC 9449 §4.2). Claims and header members override the defaults; undefined omits one. */
async function proof(
  claims: JWTPayload & { htm: string; htu: string },
  { header = {}, by = keys }: { header?: object; by?: GenerateKeyPairResult } = {},
): Promise<string> {
  const jwk = await exportJWK(by.publicKey);
  return new SignJWT({ jti: randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
    .sign(by.privateKey);
}

const tokenProofClaims = (changes: object = {}) => ({ htm: 'POST', htu: endpointUrl('token'), ...changes });
const athOf = (token: string) => createHash('sha256').update(token).digest('base64url');

async function requestBoundTokens(scope = 'openid offline_access') {
  const { exchangeForm } = await app.authorize(scope);
  const response = await app.post('token', exchangeForm, { dpop: await proof(tokenProofClaims()) });
  expect(response.status).toBe(200);
  return json(response);
}
const refresh = async (refreshToken: string, dpop?: string) => {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
  const response = await app.post('token', form, dpop === undefined ? {} : { dpop });
  return { status: response.status, body: await json(response) };
};
const userInfo = (token: string, dpop: string, scheme = 'DPoP') =>
  server.fetch(endpointUrl('userinfo'), { headers: { authorization: `${scheme} ${token}`, dpop } });

describe('a key-bound access token (RFC 9449)', () => {
  it('names the thumbprint of its key, and is of type DPoP (§5, §6.1)', async () => {
    const tokens = await requestBoundTokens();
    expect(tokens.token_type).toBe('DPoP');
    expect(decodeJwt(tokens.access_token).cnf).toEqual({
      jkt: await calculateJwkThumbprint(await exportJWK(keys.publicKey)),
    });
  });

  it('works for openid-client with proofs, at UserInfo and at a refresh', async () => {
    const DPoP = client.getDPoPHandle(app.configuration, await client.randomDPoPKeyPair('ES256'));
    const { shown, verifier, state } = await app.authorize('openid offline_access');
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    const tokens = await client.authorizationCodeGrant(app.configuration, shown.url, checks, undefined, {
      DPoP,
    });
    expect(tokens.token_type).toBe('dpop');
    const subject = server.users.harbourOwner.user_id;
    const { configuration } = app;
    await expect(
      client.fetchUserInfo(configuration, tokens.access_token, subject, { DPoP }),
    ).resolves.toHaveProperty('sub');
    await expect(client.fetchUserInfo(configuration, tokens.access_token, subject)).rejects.toMatchObject({
      status: 401,
    });
    const next = await client.refreshTokenGrant(configuration, tokens.refresh_token ?? '', {}, { DPoP });
    expect(next.token_type).toBe('dpop');
  });

  it('is not accepted as a bearer token (§7.2)', async () => {
    const { access_token } = await requestBoundTokens();
    const ath = athOf(access_token);
    const response = await userInfo(
      access_token,
      await proof({ htm: 'GET', htu: endpointUrl('userinfo'), ath }),
      'Bearer',
    );
    expect(response.status).toBe(400);
  });

  it('is shown as key-bound by introspection (§6.2)', async () => {
    const { access_token } = await requestBoundTokens();
    expect(await client.tokenIntrospection(app.configuration, access_token)).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: expect.any(String) },
    });
  });
});

describe('a proof at UserInfo (RFC 9449 §4.3, §7.1)', () => {
  let token = '';
  beforeAll(async () => {
    token = (await requestBoundTokens()).access_token;
  });
  const userInfoProofClaims = (changes: object = {}) => ({
    htm: 'GET',
    htu: endpointUrl('userinfo'),
    ath: athOf(token),
    ...changes,
  });

  it('is accepted once when it is valid, and is a replay the second time (§11.1)', async () => {
    const dpop = await proof(userInfoProofClaims());
    expect((await userInfo(token, dpop)).status).toBe(200);
    const repeated = await userInfo(token, dpop);
    expect(repeated.status).toBe(401);
    expect(repeated.headers.get('www-authenticate')).toMatch(/^DPoP /);
  });

  it.each([
    ['of another method', () => ({ htm: 'POST' })],
    ['of another host', () => ({ htu: 'https://evil.example/api/auth/oauth2/userinfo' })],
    ['of another path', () => ({ htu: endpointUrl('token') })],
    ['of another token', () => ({ ath: athOf('another') })],
    ['without the hash of a token', () => ({ ath: undefined })],
    ['without an id', () => ({ jti: undefined })],
    ['without a time', () => ({ iat: undefined })],
    ['from an hour ago', () => ({ iat: Math.floor(Date.now() / 1000) - 3600 })],
    ['from an hour ahead', () => ({ iat: Math.floor(Date.now() / 1000) + 3600 })],
  ])('%s is rejected', async (_, changes) => {
    const response = await userInfo(token, await proof(userInfoProofClaims(changes())));
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^DPoP /);
  });

  it.each([
    ['of another key than the token’s', () => ({ by: otherKeys })],
    ['of another type', () => ({ header: { typ: 'JWT' } })],
    ['with a private key in its header', async () => ({ header: { jwk: await exportJWK(keys.privateKey) } })],
    ['without a key in its header', () => ({ header: { jwk: undefined } })],
    [
      'with a key in its header that did not sign it',
      async () => ({ header: { jwk: await exportJWK(otherKeys.publicKey) } }),
    ],
  ])('%s is rejected', async (_, options) => {
    const dpop = await proof(userInfoProofClaims(), await options());
    expect((await userInfo(token, dpop)).status).toBe(401);
  });

  it('that is not a JWT is rejected', async () => {
    expect((await userInfo(token, 'nonsense')).status).toBe(401);
  });

  it('signed with the public key as secret, or unsigned, is rejected (§11.6)', async () => {
    const jwk = await exportJWK(keys.publicKey);
    const secret = new TextEncoder().encode(JSON.stringify(jwk));
    const symmetric = await new SignJWT(
      userInfoProofClaims({ jti: randomUUID(), iat: Math.floor(Date.now() / 1000) }),
    )
      .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk })
      .sign(secret);
    const [, payload = ''] = symmetric.split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'dpop+jwt', jwk })).toString('base64url');
    for (const dpop of [symmetric, `${header}.${payload}.`])
      expect((await userInfo(token, dpop)).status).toBe(401);
  });
});

describe('a proof at the token endpoint (RFC 9449 §5)', () => {
  it('is rejected for another method or URL, or when it was used before, and the code stays valid', async () => {
    const { exchangeForm } = await app.authorize('openid');
    const exchange = async (dpop: string) => {
      const response = await app.post('token', exchangeForm, { dpop });
      return { status: response.status, body: await json(response) };
    };
    for (const changes of [{ htm: 'GET' }, { htu: endpointUrl('userinfo') }]) {
      expect(await exchange(await proof(tokenProofClaims(changes)))).toMatchObject({
        status: 400,
        body: { error: 'invalid_dpop_proof' },
      });
    }
    const used = await proof(tokenProofClaims());
    await app.post('token', (await app.authorize('openid')).exchangeForm, { dpop: used });
    expect(await exchange(used)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await exchange(await proof(tokenProofClaims()))).status).toBe(200);
  });

  it('is required, by the same key, at a refresh of a public client', async () => {
    const { refresh_token } = await requestBoundTokens();
    expect((await refresh(refresh_token)).body.error).toBe('invalid_grant');
    const foreign = await refresh(refresh_token, await proof(tokenProofClaims(), { by: otherKeys }));
    expect([foreign.status, foreign.body.error]).toEqual([400, 'invalid_grant']);
    const next = await refresh(refresh_token, await proof(tokenProofClaims()));
    expect(next).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
  });
});
