import { dpopSigningAlgorithms } from '@fulfilment/contracts';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { RedisConnection } from '../redis.js';

/** How far a proof's `iat` may lie in the past or the future; the authorization server allows as much. */
const windowSeconds = 300;
const maxJtiLength = 256;

const proofClaims = z.object({
  jti: z.string().min(1).max(maxJtiLength),
  iat: z.number(),
  htm: z.string(),
  htu: z.string(),
  ath: z.string(),
});

/** The parts of a request that a proof is about. */
export interface ProvenRequest {
  readonly method: string;
  /** As the client sent it: path and query. */
  readonly originalUrl: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** The proof of possession that belongs to a DPoP-bound access token (RFC 9449). No nonce is required. */
export class DpopProofs {
  constructor(
    private readonly redis: RedisConnection,
    /** Public address of the gateway: a proof names the URL as the client knows it. */
    private readonly baseUrl: string,
  ) {}

  /**
   * Whether the request carries a valid proof for this token that was not used before (RFC 9449 §4.3). While Redis is away a proof may be
   * used twice within its ten minutes: it still holds for one method, URL and token only.
   * @param keyThumbprint `cnf.jkt` of the token
   * @param beforeSignature called before the signature of a proof is verified; what it throws is thrown instead
   */
  async isProven(
    request: ProvenRequest,
    token: string,
    keyThumbprint: string,
    beforeSignature?: () => void,
  ): Promise<boolean> {
    const proof = request.headers['dpop'];
    if (typeof proof !== 'string') return false;
    beforeSignature?.();
    const verified = await verifiedProof(proof);
    if (verified === undefined) return false;
    const { claims, thumbprint } = verified;
    const matches =
      thumbprint === keyThumbprint &&
      claims.htm === request.method &&
      isSameUrl(claims.htu, `${this.baseUrl}${request.originalUrl}`) &&
      claims.ath === hash('sha256', token, 'base64url') &&
      Math.abs(Date.now() / 1000 - claims.iat) <= windowSeconds;
    return matches && this.isFirstUse(thumbprint, claims);
  }

  /** Remembered for as long as the proof could be shown again, by every replica of both APIs. */
  private async isFirstUse(thumbprint: string, { jti, iat }: z.output<typeof proofClaims>): Promise<boolean> {
    const key = `dpop-proof:${hash('sha256', `${thumbprint}.${jti}`, 'base64url')}`;
    const seconds = Math.max(1, Math.ceil(iat + windowSeconds - Date.now() / 1000) + 1);
    const stored = await this.redis.ask('dpop-proofs', (client) => client.set(key, '1', 'EX', seconds, 'NX'));
    return stored !== null;
  }
}

interface VerifiedProof {
  readonly claims: z.output<typeof proofClaims>;
  readonly thumbprint: string;
}

/** One JWS of type `dpop+jwt`, signed by the public key in its header. Undefined for anything else. */
async function verifiedProof(proof: string): Promise<VerifiedProof | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [...dpopSigningAlgorithms],
    });
    const { success, data: claims } = proofClaims.safeParse(payload);
    if (!success || protectedHeader.jwk === undefined) return undefined;
    return { claims, thumbprint: await calculateJwkThumbprint(protectedHeader.jwk) };
  } catch {
    return undefined; // every error here is one of the proof
  }
}

/** Without query and fragment, after normalisation (RFC 9449 §4.3: scheme, host and port by the URL standard, the path as it is). */
function isSameUrl(claimed: string, requested: string): boolean {
  const [one, other] = [URL.parse(claimed), URL.parse(requested)];
  if (one === null || other === null || one.username !== '' || one.password !== '') return false;
  return one.origin === other.origin && one.pathname === other.pathname;
}
