import { createPublicKey, verify } from 'node:crypto';
import { headerOf, type RequestHeaders } from './request-headers.js';
import { WebhookVerificationError } from './webhook-verification-error.js';

/** An Ed25519 key of a JWKS (RFC 8037). Its other members, such as `kid`, are ignored. */
export interface PublicKey {
  /** `OKP` */
  readonly kty: string;
  /** `Ed25519` */
  readonly crv: string;
  /** The 32 bytes of the key in base64url. */
  readonly x: string;
}

const signatureBytes = 64;

/**
 * Returns the signing time, in UNIX seconds, of a request with a valid signature `v1a` (Standard Webhooks):
 * Ed25519 over `<webhook-id>.<webhook-timestamp>.<raw body>`.
 * @throws WebhookVerificationError
 * @throws TypeError without a key, or with a key that is not Ed25519
 */
export function asymmetricSigningTime(
  headers: RequestHeaders,
  body: Uint8Array,
  publicKeys: readonly PublicKey[],
): number {
  if (publicKeys.length === 0) throw new TypeError('publicKeys must have at least one key.');
  const keys = publicKeys.map(importKey);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const values = (headerOf(headers, 'webhook-signature') ?? '').split(' ');
  const signatures = values
    .filter((value) => value.startsWith('v1a,'))
    .map((value) => Buffer.from(value.slice('v1a,'.length), 'base64'));
  if (id === undefined || timestamp === undefined || signatures.length === 0)
    throw new WebhookVerificationError('missing_signature');
  if (!/^\d{1,12}$/.test(timestamp) || signatures.some(({ length }) => length !== signatureBytes))
    throw new WebhookVerificationError('malformed_signature');
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const isGenuine = signatures.some((signature) => keys.some((key) => verify(null, signed, key, signature)));
  if (!isGenuine) throw new WebhookVerificationError('wrong_signature');
  return Number(timestamp);
}

function importKey({ kty, crv, x }: PublicKey) {
  if (kty !== 'OKP' || crv !== 'Ed25519') throw new TypeError('A public key must be an Ed25519 key.');
  return createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
}
