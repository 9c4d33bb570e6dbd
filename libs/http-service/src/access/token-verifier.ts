import { accessTokenClaims, accessTokenLifetimeSeconds, issuer } from '@fulfilment/contracts';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { es256ToDer } from '@fulfilment/runtime';
import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import { hash, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Caller } from './caller.js';
import { PublishedKeys } from './published-keys.js';

const maxCachedTokens = 20_000;
/** Tolerated difference between the clocks of this service and of the authorization server. */
const clockToleranceSeconds = 5;
/** A JWS with a canonical ES256 signature: the unused bits at its end are zero (RFC 4648 §3.5). */
const compactEs256 = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;

/** The `typ` of an access token (RFC 9068 §2.1), with or without `application/` (RFC 7515 §4.1.9). */
const accessTokenType = /^(application\/)?at\+jwt$/i;

export interface TokenVerifierSettings {
  readonly authUrl: string;
  readonly jwksUrl: string;
  /** This API's audience. */
  readonly audience: string;
}

interface VerifiedToken {
  readonly caller: Caller;
  /** Thumbprint of the key of a DPoP-bound token (RFC 9449 §6.1). */
  readonly keyThumbprint: string | undefined;
  readonly keyId: string;
  readonly expiresAtMs: number;
}

/** The caller of a token that needs a proof of possession. */
export interface BoundCaller {
  readonly caller: Caller;
  readonly keyThumbprint: string;
}

/**
 * Verifies access tokens with the authorization server's public keys: `at+jwt`, ES256, issuer, audience,
 * expiry (RFC 9068 §4). A verified token is cached by its SHA-256 until it expires or its key is removed,
 * since an ES256 verification costs as much as the rest of a GET. A token with a longer lifetime than the
 * authorization server issues, or with `iat` in the future, is rejected even if its signature is valid.
 */
export class TokenVerifier {
  private readonly settings: TokenVerifierSettings;
  private readonly keys: PublishedKeys;
  private readonly cache = new LRUCache<string, VerifiedToken>({ max: maxCachedTokens });

  /** @param nowMs a monotonic clock, which decides when the keys are read */
  constructor(settings: TokenVerifierSettings, nowMs?: () => number) {
    this.settings = settings;
    this.keys = new PublishedKeys(settings.jwksUrl, nowMs);
  }

  /**
   * Returns the caller of a bearer token; undefined if it is invalid or DPoP-bound (RFC 9449 §7.2).
   * @param beforeSignatureCheck called before a signature is verified; may throw
   * @throws DependencyUnavailable when the signing keys could not be read
   */
  async verify(token: string, beforeSignatureCheck?: () => void): Promise<Caller | undefined> {
    const verified = await this.findOrVerify(token, beforeSignatureCheck);
    if (verified === undefined || verified.keyThumbprint !== undefined) return undefined;
    return verified.caller;
  }

  /**
   * Returns the caller of a DPoP-bound token, or undefined when the token is invalid or not bound.
   * @throws DependencyUnavailable when the signing keys could not be read
   */
  async verifyBound(token: string, beforeSignatureCheck?: () => void): Promise<BoundCaller | undefined> {
    const verified = await this.findOrVerify(token, beforeSignatureCheck);
    if (verified?.keyThumbprint === undefined) return undefined;
    return { caller: verified.caller, keyThumbprint: verified.keyThumbprint };
  }

  private async findOrVerify(
    token: string,
    beforeSignatureCheck?: () => void,
  ): Promise<VerifiedToken | undefined> {
    if (!compactEs256.test(token)) return undefined;
    const digest = hash('sha256', token, 'base64');
    const cached = this.cache.get(digest);
    if (cached !== undefined) {
      this.keys.reloadWhenDue(); // a removed key must be noticed even while every token is cached
      if (cached.expiresAtMs > Date.now() && this.keys.isPublished(cached.keyId)) return cached;
    }
    const fresh = await this.verifyUncached(token, beforeSignatureCheck);
    if (fresh !== undefined) this.cache.set(digest, fresh);
    else this.cache.delete(digest);
    return fresh;
  }

  private async verifyUncached(
    token: string,
    beforeSignatureCheck?: () => void,
  ): Promise<VerifiedToken | undefined> {
    const decoded = decode(token);
    if (
      decoded === undefined ||
      !isAccessTokenHeader(decoded.header) ||
      !this.hasValidClaims(decoded.payload)
    )
      return undefined;
    const { kid: keyId } = decoded.header;
    if (keyId === undefined) return undefined;
    beforeSignatureCheck?.();
    if (!(await this.hasValidSignature(token, decoded.header))) return undefined;
    const { data: claims } = accessTokenClaims.safeParse(decoded.payload);
    if (claims === undefined) return undefined;
    return {
      keyId,
      keyThumbprint: claims.cnf?.jkt,
      expiresAtMs: (claims.exp + clockToleranceSeconds) * 1000, // the same tolerance as for an uncached token
      caller: {
        subject: claims.sub,
        clientId: claims.client_id,
        creatorId: claims.creator_id,
        organisationId: claims.org_id,
        organisationRole: claims.org_role,
        scopes: new Set(claims.scope.split(' ').filter((scope) => scope !== '')),
        audiences: [claims.aud].flat(),
        tokenId: claims.jti,
        tokenIssuedAt: new Date(claims.iat * 1000),
        tokenExpiresAt: new Date(claims.exp * 1000),
      },
    };
  }

  /** Verifies in this thread: jose verifies in another one, which takes 2.5 times as long. */
  private async hasValidSignature(token: string, header: ProtectedHeaderParameters): Promise<boolean> {
    const end = token.lastIndexOf('.');
    const signature = es256ToDer(Buffer.from(token.slice(end + 1), 'base64url'));
    if (signature === undefined) return false;
    try {
      const key = await this.keys.find(header);
      return verify('sha256', Buffer.from(token.slice(0, end)), key, signature);
    } catch (error) {
      if (error instanceof DependencyUnavailable) throw error;
      return false;
    }
  }

  /** Whether issuer, audience and times are valid (RFC 9068 §4, RFC 7519 §4.1). */
  private hasValidClaims({ iss, aud, iat, exp, nbf = 0 }: JWTPayload): boolean {
    const nowSeconds = Date.now() / 1000;
    return (
      iss === issuer(this.settings.authUrl) &&
      [aud].flat().includes(this.settings.audience) &&
      typeof exp === 'number' &&
      exp > nowSeconds - clockToleranceSeconds &&
      typeof iat === 'number' &&
      iat <= nowSeconds + clockToleranceSeconds &&
      exp - iat <= accessTokenLifetimeSeconds + clockToleranceSeconds &&
      typeof nbf === 'number' &&
      nbf <= nowSeconds + clockToleranceSeconds
    );
  }
}

/** Decodes a token without verifying it. Returns undefined if it is malformed. */
function decode(token: string) {
  try {
    return { header: decodeProtectedHeader(token), payload: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/** Whether a header is that of an access token. No critical extension is supported (RFC 7515 §4.1.11). */
function isAccessTokenHeader({ alg, typ, crit }: ProtectedHeaderParameters): boolean {
  return alg === 'ES256' && crit === undefined && typeof typ === 'string' && accessTokenType.test(typ);
}
