import { dpopSigningAlgorithms } from '@fulfilment/contracts';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { RedisConnection } from '../redis/redis.js';

/** Allowed distance of a proof's `iat` from now; the authorization server allows the same. */
const maxIatDistanceSeconds = 300;
/** The ids that clients generate are much shorter. */
const maxJtiLength = 256;

const proofClaims = z.object({
  jti: z.string().min(1).max(maxJtiLength),
  iat: z.number(),
  htm: z.string(),
  htu: z.string(),
  ath: z.string(),
});

/** The parts of a request that the check of its proof reads. */
export interface ProvenRequest {
  readonly method: string;
  /** Path and query as the client sent them. */
  readonly originalUrl: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Verifies the proof of possession of a DPoP-bound access token (RFC 9449). No nonce is required. */
export class DpopProofs {
  constructor(
    private readonly redis: RedisConnection,
    /** Public address of the gateway, since a proof contains the URL that the client used. */
    private readonly baseUrl: string,
  ) {}

  /**
   * Verifies the proof of a request for this token and records its use. Returns false for a missing, invalid
   * or already used proof (RFC 9449 §4.3). While Redis is down a proof can be used repeatedly until it
   * expires, but only for the same method, URL and token.
   * @param keyThumbprint `cnf.jkt` of the token
   * @param beforeSignatureCheck called before the signature of a proof is verified; may throw
   */
  async useProof(
    request: ProvenRequest,
    token: string,
    keyThumbprint: string,
    beforeSignatureCheck?: () => void,
  ): Promise<boolean> {
    const proof = request.headers['dpop'];
    if (typeof proof !== 'string') return false;
    beforeSignatureCheck?.();
    const verified = await verifyProof(proof);
    if (verified === undefined) return false;
    const { claims, thumbprint } = verified;
    const matches =
      thumbprint === keyThumbprint &&
      claims.htm === request.method &&
      isSameUrl(claims.htu, `${this.baseUrl}${request.originalUrl}`) &&
      claims.ath === hash('sha256', token, 'base64url') &&
      Math.abs(Date.now() / 1000 - claims.iat) <= maxIatDistanceSeconds;
    return matches && this.recordUse(thumbprint, claims);
  }

  /**
   * Records the use of a proof for all replicas of both APIs, until the proof expires. Returns false for a
   * proof that was used before. Returns true while Redis is down.
   */
  private async recordUse(thumbprint: string, { jti, iat }: z.output<typeof proofClaims>): Promise<boolean> {
    const key = `dpop-proof:${hash('sha256', `${thumbprint}.${jti}`, 'base64url')}`;
    const secondsLeft = Math.max(0, Math.ceil(iat + maxIatDistanceSeconds - Date.now() / 1000));
    const lifetimeSeconds = secondsLeft + 1; // the clocks of replicas differ slightly
    const stored = await this.redis.tryCommand('dpop-proofs', (client) =>
      client.set(key, '1', 'EX', lifetimeSeconds, 'NX'),
    );
    return stored !== null; // Redis responds with null if the key exists
  }
}

interface VerifiedProof {
  readonly claims: z.output<typeof proofClaims>;
  readonly thumbprint: string;
}

/** Verifies a JWS of type `dpop+jwt` with the public key in its header; undefined if it is invalid. */
async function verifyProof(proof: string): Promise<VerifiedProof | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [...dpopSigningAlgorithms],
    });
    const { success, data: claims } = proofClaims.safeParse(payload);
    if (!success || protectedHeader.jwk === undefined) return undefined;
    return { claims, thumbprint: await calculateJwkThumbprint(protectedHeader.jwk) };
  } catch {
    return undefined; // all errors here are caused by the proof
  }
}

/**
 * Whether a proof is for the URL of the request, without query and fragment (RFC 9449 §4.3). Scheme, host and
 * port are normalised as the URL standard requires.
 */
function isSameUrl(claimed: string, requested: string): boolean {
  const [claim, request] = [URL.parse(claimed), URL.parse(requested)];
  if (claim === null || request === null || claim.username !== '' || claim.password !== '') return false;
  return claim.origin === request.origin && claim.pathname === request.pathname;
}
