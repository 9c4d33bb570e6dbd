import { accessTokenClaims, type AccessTokenClaims, issuer } from '@fulfilment/contracts';
import { LRUCache } from 'lru-cache';
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AccessToken, AdapterPayload, default as Provider } from 'oidc-provider';
import type { KeySet } from '../keys/signing-keys.js';
import { audienceOf } from './access-token.rules.js';
import { LocalSigningKey } from './signing-key.js';

/**
 * Marks what stands for a token; only this process knows it. No dots: oidc-provider would try to decode it as a JWT, which costs more
 * than all else it does with it.
 */
const handlePrefix = `${randomBytes(32).toString('base64url')}~`;
const handleForm = /^([^~]*)~(.+)$/s;

export interface AccessTokenSettings {
  readonly authUrl: string;
  readonly baseUrl: string;
}

/** Signs access tokens with the active key. */
export class AccessTokenFormat {
  private readonly key: LocalSigningKey;
  private readonly header: string;

  constructor(
    private readonly settings: AccessTokenSettings,
    { keys }: KeySet,
  ) {
    const active = keys.find(({ jwk, state }) => jwk.alg === 'ES256' && state === 'active');
    if (active === undefined) throw new Error('There is no active ES256 key.');
    this.key = new LocalSigningKey(active.jwk);
    this.header = encode({ alg: 'ES256', typ: 'at+jwt', kid: active.jwk.kid });
  }

  /** RFC 9068 §2.2. */
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
    return `${input}.${this.key.signAtOnce(Buffer.from(input)).toString('base64url')}`;
  }
}

/** A token as somebody presents it. Nothing in it is true before its record was found. */
export interface PresentedToken {
  readonly claims: AccessTokenClaims;
  /** What oidc-provider's endpoints take in its place. */
  readonly handle: string;
}

/** Resource servers ask about the same tokens again and again. */
const seen = new LRUCache<string, PresentedToken>({
  maxSize: 2_000_000, // characters
  maxEntrySize: 4_000, // ours have half as many
  sizeCalculation: (_token, value) => value.length,
});

/** Undefined for what is no access token by its looks. */
export function presented(value: string): PresentedToken | undefined {
  const known = seen.get(value);
  if (known !== undefined) return known;
  const token = read(value);
  // A copy: a piece of a text keeps all of it in memory, here the whole form that anybody may send.
  if (token !== undefined) seen.set(Buffer.from(value).toString(), token);
  return token;
}

function read(value: string): PresentedToken | undefined {
  try {
    const [, payload = ''] = value.split('.');
    const claims = accessTokenClaims.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    return { claims, handle: `${handlePrefix}${digestOf(value)}~${claims.jti}` };
  } catch {
    return undefined;
  }
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

  const fields = [...model.IN_PAYLOAD, 'digest'];
  Object.defineProperty(model, 'IN_PAYLOAD', { get: () => fields });
  Reflect.set(model.prototype, 'getValueAndPayload', async function (this: AccessToken) {
    const made: unknown = await getValueAndPayload.call(this);
    if (!isValueAndPayload(made)) throw new Error('oidc-provider no longer makes tokens as it did.');
    const value = format.write(this, made.payload);
    return { value, payload: { ...made.payload, digest: digestOf(value) } };
  });
  Reflect.set(
    model,
    'find',
    async function (this: unknown, value: unknown, options: unknown): Promise<unknown> {
      if (typeof value !== 'string') return undefined;
      const handle = value.startsWith(handlePrefix) ? value : presented(value)?.handle;
      const [, digest, jti] = handleForm.exec(handle?.slice(handlePrefix.length) ?? '') ?? [];
      if (digest === undefined || jti === undefined) return undefined;
      const found: unknown = await find.call(this, jti, options);
      return isOf(found, digest) ? found : undefined;
    },
  );
}

/**
 * Whether a record is that of the very token that was presented. Its digest says so as surely as its signature would, for a
 * hundredth of the work: whoever has a token with this digest has the one that was handed out.
 */
function isOf(found: unknown, digest: string): boolean {
  const stored: unknown =
    typeof found === 'object' && found !== null ? Reflect.get(found, 'digest') : undefined;
  if (typeof stored !== 'string' || stored.length !== digest.length) return false;
  return timingSafeEqual(Buffer.from(stored), Buffer.from(digest));
}

function digestOf(value: string): string {
  return hash('sha256', value, 'base64url');
}

function isValueAndPayload(made: unknown): made is ValueAndPayload {
  return typeof made === 'object' && made !== null && 'value' in made && 'payload' in made;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
