import { accessTokenClaims, type AccessTokenClaims, issuer } from '@fulfilment/contracts';
import { LRUCache } from 'lru-cache';
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AccessToken, AdapterPayload, default as Provider } from 'oidc-provider';
import type { AuthServerSettings } from '../../config.js';
import type { KeySet } from '../../keys/signing-keys.js';
import { audienceOf } from './access-token.rules.js';
import { LocalSigningKey } from './signing-key.js';

/**
 * Prefix of handles, random for each process, so that clients cannot make a handle. A handle has no dots,
 * because oidc-provider would try to decode a value with dots as a JWT, which is expensive.
 */
const handlePrefix = `${randomBytes(32).toString('base64url')}~`;

/** Signs access tokens with the active key. */
export class AccessTokenSigner {
  private readonly key: LocalSigningKey;
  private readonly header: string;

  constructor(
    private readonly config: Pick<AuthServerSettings, 'AUTH_URL' | 'BASE_URL'>,
    { keys }: KeySet,
  ) {
    const active = keys.find(({ jwk, state }) => jwk.alg === 'ES256' && state === 'active');
    if (active === undefined) throw new Error('There is no active ES256 key.');
    this.key = new LocalSigningKey(active.jwk);
    this.header = encode({ alg: 'ES256', typ: 'at+jwt', kid: active.jwk.kid });
  }

  /** Returns the signed JWT (RFC 9068 §2.2) of a token. */
  sign(token: AccessToken, payload: AdapterPayload): string {
    const claims = {
      ...payload.extra,
      iss: issuer(this.config.AUTH_URL),
      sub: payload.accountId,
      aud: audienceOf(this.config.BASE_URL, token.client?.first_party === true),
      client_id: payload.clientId,
      scope: payload.scope ?? '',
      jti: payload.jti,
      iat: payload.iat,
      exp: payload.exp,
      ...(payload.jkt === undefined ? {} : { cnf: { jkt: payload.jkt } }),
    };
    const input = `${this.header}.${encode(claims)}`;
    return `${input}.${this.key.signEs256(Buffer.from(input)).toString('base64url')}`;
  }
}

/** A parsed token from a request. Its claims are not trusted until its row is found. */
export interface PresentedToken {
  readonly claims: AccessTokenClaims;
  /** SHA-256 of the JWT. */
  readonly digest: string;
}

/** Resource servers introspect the same tokens repeatedly. */
const parsedTokens = new LRUCache<string, PresentedToken>({
  maxSize: 2_000_000, // characters
  maxEntrySize: 4_000, // twice the length of our tokens
  sizeCalculation: (_token, value) => value.length,
});

/**
 * Returns undefined if the value does not have the form of our access tokens. The signature is not verified.
 */
export function parsePresentedToken(value: string): PresentedToken | undefined {
  const cached = parsedTokens.get(value);
  if (cached !== undefined) return cached;
  const token = parse(value);
  // The key is a copy: a substring would keep the whole form of the request in memory.
  if (token !== undefined) parsedTokens.set(Buffer.from(value).toString(), token);
  return token;
}

function parse(value: string): PresentedToken | undefined {
  try {
    const [, payload = ''] = value.split('.');
    const claims = accessTokenClaims.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    return { claims, digest: digestOf(value) };
  } catch {
    return undefined;
  }
}

/** Returns the opaque value that oidc-provider's endpoints accept in place of a JWT. */
export function handleOf(jwt: string): string {
  return handlePrefix + Buffer.from(jwt).toString('base64url');
}

function jwtOfHandle(handle: string): string {
  return Buffer.from(handle.slice(handlePrefix.length), 'base64url').toString();
}

/**
 * Makes oidc-provider issue access tokens as signed JWTs for several audiences, and still store their rows.
 * So its introspection, revocation, UserInfo, DPoP and reuse detection work with the tokens that the APIs
 * accept, which oidc-provider's own JWT format does not support (panva/node-oidc-provider#823). Replaces
 * `getValueAndPayload` and `find`, and extends `IN_PAYLOAD`. All three are undocumented, so the version of
 * the package is pinned, and access-token.spec.ts tests them.
 */
export function useSignedAccessTokens(provider: Provider, signer: AccessTokenSigner): void {
  const model = provider.AccessToken;
  const { getValueAndPayload } = model.prototype;
  const find = model.find.bind(model);
  const fields = [...model.IN_PAYLOAD, 'digest'];
  Object.defineProperty(model, 'IN_PAYLOAD', { get: () => fields });
  model.prototype.getValueAndPayload = async function (this: AccessToken) {
    const { payload } = await getValueAndPayload.call(this);
    const value = signer.sign(this, payload);
    return { value, payload: { ...payload, digest: digestOf(value) } };
  };
  Object.assign(model, {
    find: async (value: unknown, options?: object) => {
      if (typeof value !== 'string') return undefined;
      const isHandle = value.startsWith(handlePrefix);
      const presented = parsePresentedToken(isHandle ? jwtOfHandle(value) : value);
      if (presented === undefined) return undefined;
      const found = await find(presented.claims.jti, options);
      if (!(found instanceof model) || !digestsMatch(found.digest, presented.digest)) return undefined;
      // Introspection returns the audience. UserInfo gets no handles, and rejects a token with an audience.
      if (isHandle) found.aud = presented.claims.aud;
      return found;
    },
  });
}

/**
 * Whether a row's digest is that of the presented token. Comparing it is as safe as verifying the signature,
 * at a hundredth of the cost: only the issued token has this digest.
 */
export function digestsMatch(stored: unknown, digest: string): boolean {
  if (typeof stored !== 'string' || stored.length !== digest.length) return false;
  return timingSafeEqual(Buffer.from(stored), Buffer.from(digest));
}

function digestOf(value: string): string {
  return hash('sha256', value, 'base64url');
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
