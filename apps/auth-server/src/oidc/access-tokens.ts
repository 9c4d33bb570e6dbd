import { accessTokenClaims, type AccessTokenClaims, issuer } from '@fulfilment/contracts';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { AccessToken, AdapterPayload, default as Provider } from 'oidc-provider';
import type { KeySet } from '../keys/signing-keys.js';
import { audienceOf } from './access-token.rules.js';

/** Stands for a token whose signature was checked already; only this process knows it. */
const handlePrefix = `${randomBytes(32).toString('base64url')}.`;

export interface AccessTokenSettings {
  readonly authUrl: string;
  readonly baseUrl: string;
}

/** Signs access tokens with the active key, and reads those that any published key signed. */
export class AccessTokenFormat {
  private readonly published: ReturnType<typeof createLocalJWKSet>;
  private readonly privateKey: KeyObject;
  private readonly header: string;

  constructor(
    private readonly settings: AccessTokenSettings,
    { keys }: KeySet,
  ) {
    const es256 = keys.filter(({ jwk }) => jwk.alg === 'ES256');
    const active = es256.find(({ state }) => state === 'active');
    if (active === undefined) throw new Error('There is no active ES256 key.');
    this.privateKey = createPrivateKey({ key: active.jwk, format: 'jwk' });
    this.header = encode({ alg: 'ES256', typ: 'at+jwt', kid: active.jwk.kid });
    this.published = createLocalJWKSet({
      keys: es256.map(({ jwk: { kty, kid, alg, use, crv, x, y } }) => ({ kty, kid, alg, use, crv, x, y })),
    });
  }

  /** RFC 9068 §2.2. Synchronous: an ES256 signature takes less than handing it to another thread. */
  write(token: AccessToken, stored: AdapterPayload): string {
    const claims = {
      ...stored.extra,
      iss: issuer(this.settings.authUrl),
      sub: stored.accountId,
      aud: audienceOf(this.settings.baseUrl, token.client?.first_party === true),
      client_id: stored.clientId,
      scope: stored.scope ?? '',
      jti: stored.jti,
      iat: stored.iat,
      exp: stored.exp,
      ...(stored.jkt === undefined ? {} : { cnf: { jkt: stored.jkt } }),
    };
    const input = `${this.header}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(input), { key: this.privateKey, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  }

  /** The claims of a token of ours that has not expired, else undefined. */
  async read(value: string): Promise<AccessTokenClaims | undefined> {
    try {
      const { payload } = await jwtVerify(value, this.published, {
        algorithms: ['ES256'],
        issuer: issuer(this.settings.authUrl),
        typ: 'at+jwt',
        requiredClaims: ['jti', 'exp', 'sub'],
      });
      return accessTokenClaims.parse(payload);
    } catch {
      return undefined;
    }
  }
}

/** What oidc-provider's endpoints take in place of a token that was read already. */
export function handleOf(jti: string): string {
  return `${handlePrefix}${jti}`;
}

/** A handle that finds nothing. */
export const handleOfNothing = handlePrefix;

interface ValueAndPayload {
  readonly value: string;
  readonly payload: AdapterPayload;
}

/**
 * Makes access tokens signed JWTs for several audiences, while their records stay stored: so introspection, revocation, UserInfo,
 * DPoP and reuse detection of oidc-provider work on the very token the APIs take (its own JWT format gives that up,
 * panva/node-oidc-provider#823). Touches two methods that are not documented: the package's version is pinned, and
 * access-tokens.spec.ts holds it.
 */
export function useSignedAccessTokens(provider: Provider, format: AccessTokenFormat): void {
  const model = provider.AccessToken;
  const getValueAndPayload: unknown = Reflect.get(model.prototype, 'getValueAndPayload');
  const find: unknown = Reflect.get(model, 'find');
  if (typeof getValueAndPayload !== 'function' || typeof find !== 'function')
    throw new Error('oidc-provider no longer has the methods that access tokens are made by.');

  Reflect.set(model.prototype, 'getValueAndPayload', async function (this: AccessToken) {
    const made: unknown = await getValueAndPayload.call(this);
    if (!isValueAndPayload(made)) throw new Error('oidc-provider no longer makes tokens as it did.');
    return { value: format.write(this, made.payload), payload: made.payload };
  });
  Reflect.set(
    model,
    'find',
    async function (this: unknown, value: unknown, options: unknown): Promise<unknown> {
      const jti = await tokenId(value, format);
      if (jti === undefined) return undefined;
      const found: unknown = await find.call(this, jti, options);
      return found;
    },
  );
}

/** The id of a token's record is no credential by itself. */
async function tokenId(value: unknown, format: AccessTokenFormat): Promise<string | undefined> {
  if (typeof value !== 'string') return undefined;
  if (value.startsWith(handlePrefix)) return value.slice(handlePrefix.length);
  return (await format.read(value))?.jti;
}

function isValueAndPayload(made: unknown): made is ValueAndPayload {
  return typeof made === 'object' && made !== null && 'value' in made && 'payload' in made;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
