import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose';
import * as client from 'openid-client';
import { SigningKeys } from '../../keys/signing-keys.js';
import { expire } from '../../test/backdate.fixture.js';
import { App } from '../../test/app.fixture.js';
import { json } from '../../test/json.fixture.js';
import { server, startServer } from '../../test/server.fixture.js';
import { fetchUserInfo } from '../../test/token-states.fixture.js';

startServer();
let app: App;
let tokens: client.TokenEndpointResponse;
beforeAll(async () => {
  app = await App.register(server);
  ({ tokens } = await app.signIn('openid offline_access'));
});

const jwks = async () => json(await server.fetch(`${server.url}/api/auth/jwks`));

describe('an access token (RFC 9068 §2)', () => {
  it('is an at+jwt signed with ES256 by a published key, with exactly the documented claims', async () => {
    const { payload, protectedHeader } = await jwtVerify(
      tokens.access_token,
      createLocalJWKSet(await jwks()),
    );
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    expect(payload).toEqual({
      iss: `${server.url}/api/auth`,
      sub: server.users.harbourOwner.user_id,
      aud: ['https://suite.example/store'],
      client_id: app.clientId,
      scope: 'openid offline_access',
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: Number(payload.iat) + 3600,
      org_id: 'org_harbour',
      org_role: 'owner',
      creator_id: server.creators.harbour.uuid,
    });
  });

  it('is only for the Store API when a third-party client requests another audience', async () => {
    const parameters = {
      resource: 'https://suite.example/creator',
      audience: 'https://suite.example/creator',
    };
    const { access_token } = (await app.signIn('openid', { parameters })).tokens;
    expect(decodeJwt(access_token).aud).toEqual(['https://suite.example/store']);
  });

  it('has an id that differs from that of another token', async () => {
    const { access_token } = (await app.signIn('openid')).tokens;
    expect(decodeJwt(access_token).jti).not.toBe(claims().jti);
  });

  it('is rejected at UserInfo and inactive at introspection when its stored row has expired', async () => {
    const other = await App.register(server);
    const { tokens: old } = await other.signIn('openid');
    await expire(server, 'AccessToken', other.clientId);
    expect(await client.tokenIntrospection(other.configuration, old.access_token)).toEqual({ active: false });
    await expect(
      client.fetchUserInfo(other.configuration, old.access_token, client.skipSubjectCheck),
    ).rejects.toMatchObject({ status: 401 });
  });
});

const forgeries = {
  unsigned: () => `${part({ alg: 'none', typ: 'at+jwt' })}.${payloadOf(tokens.access_token)}.`,
  'unsigned, with "None" in another case': () =>
    `${part({ alg: 'nOnE', typ: 'at+jwt' })}.${payloadOf(tokens.access_token)}.`,
  'without its signature': () => `${tokens.access_token.split('.').slice(0, 2).join('.')}.`,
  'signed with HS256 by the public key': async () => {
    const [key] = (await jwks()).keys;
    const secret = new TextEncoder().encode(JSON.stringify(key));
    return new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: kid() }).sign(secret);
  },
  'signed by a foreign key under our kid': async () => {
    const { privateKey } = await generateKeyPair('ES256');
    return new SignJWT(claims())
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: kid() })
      .sign(privateKey);
  },
  'signed by a key in its header': async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    return new SignJWT(claims())
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', jwk: await exportJWK(publicKey) })
      .sign(privateKey);
  },
  'signed by a key at a URL in its header': async () => {
    const { privateKey } = await generateKeyPair('ES256');
    return new SignJWT(claims())
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'x', jku: 'https://evil.example/jwks' })
      .sign(privateKey);
  },
  'with a claim changed': () => {
    const [header, , signature] = tokens.access_token.split('.');
    return `${header}.${part({ ...claims(), scope: 'openid orders:create' })}.${signature}`;
  },
  'that is only the id of a token': () => claims().jti ?? '',
  'that is an ID token': () => tokens.id_token ?? '',
  'that is a refresh token': () => tokens.refresh_token ?? '',
  'signed by our own key with the type of an ID token': () => signedByUs(claims(), 'JWT'),
  'signed by our own key, without a stored row': () => signedByUs({ ...claims(), jti: 'nobody' }),
  'signed by our own key, expired': () =>
    signedByUs({ ...claims(), exp: Math.floor(Date.now() / 1000) - 60 }),
  'signed by our own key, of another issuer': () =>
    signedByUs({ ...claims(), iss: 'https://evil.example/api/auth' }),
  'signed by our own key, without exp': () => signedByUs({ ...claims(), exp: undefined }),
  'that is nonsense': () => 'eyJ.eyJ.eyJ',
} satisfies Readonly<Record<string, () => string | Promise<string>>>;

describe('a value that is not an access token (RFC 8725 §3, RFC 9068 §4)', () => {
  it.each(Object.entries(forgeries))(
    'is rejected at UserInfo and inactive at introspection: %s',
    async (what, forge) => {
      const forged = await forge();
      expect(forged).not.toBe('');
      const userInfo = await fetchUserInfo(forged);
      expect(userInfo.status).toBe(401);
      expect(userInfo.headers.get('www-authenticate')).toContain('invalid_token');
      // The app may introspect its own refresh token, which is active.
      if (what !== 'that is a refresh token') {
        const introspection = await app.post('introspect', { token: forged });
        expect(await introspection.json()).toEqual({ active: false });
      }
    },
  );
});

async function signedByUs(payload: JWTPayload, typ = 'at+jwt'): Promise<string> {
  const { keys } = await new SigningKeys(server.database, server.secrets).load();
  const active = keys.find(({ jwk, state }) => jwk.alg === 'ES256' && state === 'active');
  if (active === undefined) throw new Error('There is no active key.');
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', typ, kid: kid() })
    .sign(await importJWK({ ...active.jwk }, 'ES256'));
}

function claims(): JWTPayload {
  return decodeJwt(tokens.access_token);
}

function kid(): string {
  return decodeProtectedHeader(tokens.access_token).kid ?? '';
}

function payloadOf(token: string): string {
  return token.split('.')[1] ?? '';
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
