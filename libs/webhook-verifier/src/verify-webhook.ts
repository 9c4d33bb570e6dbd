import { createHmac, timingSafeEqual } from 'node:crypto';
import { types } from 'node:util';
import { asymmetricSigningTime, type PublicKey } from './asymmetric-signature.js';
import { parseEvent, type ReceivedEvent } from './received-event.js';
import { headerOf, type RequestHeaders } from './request-headers.js';
import { WebhookVerificationError } from './webhook-verification-error.js';

export interface WebhookRequest {
  readonly headers: RequestHeaders;
  /** The raw bytes, e.g. a Buffer. A body that was parsed and serialised again has another signature. */
  readonly body: Uint8Array;
}

export interface VerifyOptions {
  /** The secret of the subscription; during a rotation, both. Not needed with `publicKeys`. */
  readonly secrets?: readonly string[];
  /**
   * The `keys` of the subscription's JWKS, for the signature `v1a`. Then only `v1a` is accepted. Read the
   * JWKS again when the check fails with `wrong_signature`.
   */
  readonly publicKeys?: readonly PublicKey[];
  /** Maximum difference between the time of signing and now, in both directions. Default: 300. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Signed with the current secret and, for 24 hours after a rotation, also with the previous one. */
const signatureHeaders = ['x-service-signature', 'x-service-signature-previous'] as const;
const defaultToleranceSeconds = 300;

/**
 * Returns the event of a genuine and fresh request. Verifies the signature first, and reads nothing else of a
 * forged request.
 * @throws WebhookVerificationError when a check fails; `code` names the check
 * @throws TypeError on invalid arguments: no secret or key, an empty secret, or a body that is not raw bytes
 */
export function verifyWebhook(request: WebhookRequest, options: VerifyOptions): ReceivedEvent {
  const { secrets = [], publicKeys, toleranceSeconds = defaultToleranceSeconds, now = Date.now } = options;
  checkCall(request.body, toleranceSeconds);
  if (publicKeys === undefined) checkSecrets(secrets);
  const signedAt =
    publicKeys === undefined
      ? signingTime(signaturesOf(request.headers), request.body, secrets)
      : asymmetricSigningTime(request.headers, request.body, publicKeys);
  const ageSeconds = now() / 1000 - signedAt;
  if (ageSeconds > toleranceSeconds) throw new WebhookVerificationError('too_old');
  if (ageSeconds < -toleranceSeconds) throw new WebhookVerificationError('too_new');
  return parseEvent(request.body);
}

interface Signature {
  readonly timestamp: string;
  readonly mac: Buffer;
}

/** @throws WebhookVerificationError */
function signaturesOf(headers: RequestHeaders): Signature[] {
  const [current, previous] = signatureHeaders.map((name) => headerOf(headers, name));
  if (current === undefined) throw new WebhookVerificationError('missing_signature');
  return [current, ...(previous === undefined ? [] : [previous])].map(parseSignature);
}

function parseSignature(header: string): Signature {
  const [, timestamp, hex] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (timestamp === undefined || hex === undefined) throw new WebhookVerificationError('malformed_signature');
  return { timestamp, mac: Buffer.from(hex, 'hex') };
}

/**
 * Returns the time of the first valid signature. Compares every pair, so that the duration does not reveal
 * which one matched.
 */
function signingTime(signatures: readonly Signature[], body: Uint8Array, secrets: readonly string[]): number {
  const valid = signatures.filter(
    ({ timestamp, mac }) => secrets.filter((secret) => isMacOf(mac, secret, timestamp, body)).length > 0,
  );
  const [first] = valid;
  if (first === undefined) throw new WebhookVerificationError('wrong_signature');
  return Number(first.timestamp);
}

/** HMAC-SHA256 of `<t>.<raw body>`, keyed with the secret's UTF-8 bytes, compared in constant time. */
function isMacOf(mac: Buffer, secret: string, timestamp: string, body: Uint8Array): boolean {
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  return timingSafeEqual(mac, expected);
}

/** Rejects arguments with which every request, or no request, would be accepted. */
function checkCall(body: unknown, toleranceSeconds: number): void {
  if (!types.isUint8Array(body))
    throw new TypeError('body must be the raw bytes of the request (a Buffer or Uint8Array), not parsed.');
  if (!(toleranceSeconds >= 0)) throw new TypeError('toleranceSeconds must be 0 or more.');
}

function checkSecrets(secrets: readonly unknown[]): void {
  if (!Array.isArray(secrets) || secrets.length === 0)
    throw new TypeError('secrets must be an array with at least one secret.');
  // A missing environment variable may become an empty secret, with which any sender can sign.
  if (!secrets.every((secret) => typeof secret === 'string' && secret !== ''))
    throw new TypeError('A secret must be a non-empty string.');
}
