import { accessTokenClaims, issuer } from '@fulfilment/contracts';
import { createHash } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Caller } from './caller.js';
import { PublishedKeys } from './published-keys.js';

const cachedTokens = 20_000;
const clockToleranceSeconds = 5;
/** A JWS with the 64 bytes of an ES256 signature in their one spelling: the bits left over in the last letter are zero (RFC 4648 §3.5). */
const compactEs256 = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;

export interface TokenVerifierSettings {
  readonly authUrl: string;
  readonly jwksUrl: string;
  /** This API's audience. */
  readonly audience: string;
}

interface Verified {
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

/** The token's keys could not be had: nobody's fault but ours. */
export class KeysUnavailable extends Error {
  readonly code = 'ECONNREFUSED';
}

/**
 * Checks access tokens against the authorization server's public keys: `at+jwt`, ES256, issuer, audience, expiry (RFC 9068 §4).
 * A checked token is remembered by its SHA-256 until it expires: an ES256 verification costs as much as a whole GET.
 */
export class TokenVerifier {
  private readonly settings: TokenVerifierSettings;
  private readonly keys: PublishedKeys;
  private readonly verified = new LRUCache<string, Verified>({ max: cachedTokens });

  constructor(settings: TokenVerifierSettings) {
    this.settings = settings;
    this.keys = new PublishedKeys(settings.jwksUrl);
  }

  /** The caller, or undefined when the token is not good here. @throws KeysUnavailable */
  async verify(token: string): Promise<Caller | undefined> {
    if (!compactEs256.test(token)) return undefined;
    const hash = createHash('sha256').update(token).digest('base64');
    const known = this.verified.get(hash);
    if (known !== undefined) return known.expiresAtMs > Date.now() ? known.caller : undefined;
    const fresh = await this.verifySignature(token);
    if (fresh !== undefined) this.verified.set(hash, fresh);
    return fresh?.caller;
  }

  private async verifySignature(token: string): Promise<Verified | undefined> {
    try {
      const { payload } = await jwtVerify(token, this.keys.find, {
        issuer: issuer(this.settings.authUrl),
        audience: this.settings.audience,
        typ: 'at+jwt',
        algorithms: ['ES256'],
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ['exp', 'sub', 'jti', 'client_id'],
      });
      const claims = accessTokenClaims.parse(payload);
      // A token bound to a key (RFC 9449 §7.2) is no bearer token.
      if (claims.cnf !== undefined) return undefined;
      return {
        expiresAtMs: claims.exp * 1000,
        caller: {
          subject: claims.sub,
          clientId: claims.client_id,
          creatorId: claims.creator_id,
          organisationId: claims.org_id,
          organisationRole: claims.org_role,
          scopes: new Set(claims.scope.split(' ').filter((scope) => scope !== '')),
          tokenId: claims.jti,
        },
      };
    } catch (error) {
      if (keysCouldNotBeRead(error))
        throw new KeysUnavailable('The signing keys could not be read.', { cause: error });
      return undefined;
    }
  }
}

/** jose tells an answer that is no key set by its base class, a network failure by a TypeError of fetch. */
function keysCouldNotBeRead(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout) return true;
  if (error instanceof errors.JOSEError) return error.code === 'ERR_JOSE_GENERIC';
  // By its words, not its class: fetch's errors are not of the realm that tests run in.
  return typeof error === 'object' && error !== null && Reflect.get(error, 'message') === 'fetch failed';
}
