import { createHmac, timingSafeEqual } from 'node:crypto';
import { types } from 'node:util';
import { asymmetricSigningTime, type PublicKey } from './asymmetric-signature.js';
import { parseEvent, type ReceivedEvent } from './received-event.js';
import { headerOf, type RequestHeaders } from './request-headers.js';
import { WebhookVerificationError } from './webhook-verification-error.js';

export interface WebhookRequest {
  readonly headers: RequestHeaders;
  /** The raw bytes, such as a Buffer. Parsed and re-serialised JSON does not match the signature. */
  readonly body: Uint8Array;
}

export interface VerifyOptions {
  /** The secret of the subscription; during a rotation, both. Required without `publicKeys`, else ignored. */
  readonly secrets?: readonly string[];
  /**
   * The `keys` of the subscription's JWKS. With them, only the signature `v1a` is accepted. Read the JWKS
   * again when the check fails with `wrong_signature`, at most once in five minutes.
   */
  readonly publicKeys?: readonly PublicKey[];
  /** Maximum difference between the time of signing and now, in both directions. Default: 300. */
  readonly toleranceSeconds?: number;
  /** Returns milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

const defaultToleranceSeconds = 300;

/**
 * Returns the event of a genuine and fresh request. The signature is verified first, so the body of a forged
 * request is not parsed.
 * @throws WebhookVerificationError when a check fails; `code` names the check
 * @throws TypeError on invalid arguments: no secret or key, an empty secret, a key that is not Ed25519, a
 *   negative tolerance, or a body that is not raw bytes
 */
export function verifyWebhook(request: WebhookRequest, options: VerifyOptions): ReceivedEvent {
  const { secrets = [], publicKeys, toleranceSeconds = defaultToleranceSeconds, now = Date.now } = options;
  checkBody(request.body);
  checkTolerance(toleranceSeconds);
  if (publicKeys === undefined) checkSecrets(secrets);
  const signedAtSeconds =
    publicKeys === undefined
      ? signingTime(signaturesOf(request.headers), request.body, secrets)
      : asymmetricSigningTime(request.headers, request.body, publicKeys);
  const ageSeconds = now() / 1000 - signedAtSeconds;
  if (ageSeconds > toleranceSeconds) throw new WebhookVerificationError('too_old');
  if (ageSeconds < -toleranceSeconds) throw new WebhookVerificationError('too_new');
  return parseEvent(request.body);
}

interface Signature {
  readonly timestamp: string;
  readonly mac: Buffer;
}

/**
 * Returns the signatures of both headers: the one by the current secret and, for 24 hours after a rotation,
 * the one by the previous secret.
 * @throws WebhookVerificationError
 */
function signaturesOf(headers: RequestHeaders): Signature[] {
  const current = headerOf(headers, 'x-service-signature');
  const previous = headerOf(headers, 'x-service-signature-previous');
  if (current === undefined) throw new WebhookVerificationError('missing_signature');
  return [current, ...(previous === undefined ? [] : [previous])].map(parseSignature);
}

function parseSignature(header: string): Signature {
  const [, timestamp, hex] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (timestamp === undefined || hex === undefined) throw new WebhookVerificationError('malformed_signature');
  return { timestamp, mac: Buffer.from(hex, 'hex') };
}

/**
 * Returns the time of the first valid signature, in UNIX seconds. Compares each signature with each secret,
 * so that the duration does not reveal which pair matched.
 */
function signingTime(signatures: readonly Signature[], body: Uint8Array, secrets: readonly string[]): number {
  const valid = signatures.filter(
    ({ timestamp, mac }) => secrets.filter((secret) => isMacOf(mac, secret, timestamp, body)).length > 0,
  );
  const [first] = valid;
  if (first === undefined) throw new WebhookVerificationError('wrong_signature');
  return Number(first.timestamp);
}

/** Compares in constant time with the HMAC-SHA256 of `<t>.<raw body>`, keyed with the UTF-8 secret. */
function isMacOf(mac: Buffer, secret: string, timestamp: string, body: Uint8Array): boolean {
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  return timingSafeEqual(mac, expected);
}

function checkBody(body: unknown): void {
  if (!types.isUint8Array(body))
    throw new TypeError('body must be the raw bytes of the request (a Buffer or Uint8Array), not parsed.');
}

/** Rejects NaN too, with which a request of any age would be accepted. */
function checkTolerance(seconds: number): void {
  if (!(seconds >= 0)) throw new TypeError('toleranceSeconds must be 0 or more.');
}

function checkSecrets(secrets: readonly unknown[]): void {
  if (!Array.isArray(secrets) || secrets.length === 0)
    throw new TypeError('secrets must be an array with at least one secret, unless publicKeys are given.');
  // A missing environment variable may become an empty secret, with which any sender can sign.
  if (!secrets.every((secret) => typeof secret === 'string' && secret !== ''))
    throw new TypeError('A secret must be a non-empty string.');
}
