import { createHmac, timingSafeEqual } from 'node:crypto';
import { types } from 'node:util';
import { parseEvent, type ReceivedEvent } from './received-event.js';
import { headerOf, type RequestHeaders } from './request-headers.js';
import { WebhookRefused } from './webhook-refused.js';

export interface WebhookRequest {
  readonly headers: RequestHeaders;
  /** The bytes as they came (a Buffer is such); what was parsed and written again has another signature. */
  readonly body: Uint8Array;
}

export interface VerifyOptions {
  /** The subscription's secret; while it is changed, the new and the old one. */
  readonly secrets: readonly string[];
  /** How far the time of signing may be from now, both ways: 300 unless told otherwise. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since 1970: `Date.now` unless told otherwise. */
  readonly now?: () => number;
}

/** By the subscription's secret, and for 24 hours after it was changed by the one before as well. */
const signatureHeaders = ['x-service-signature', 'x-service-signature-previous'] as const;
const defaultToleranceSeconds = 300;

/**
 * The event of a request that is genuine and fresh. The signature is looked at first: nothing else of a forged request is read.
 * @throws WebhookRefused when it is not to be believed; its `code` says which check failed
 * @throws TypeError when this function is called wrongly: without a secret, with an empty one, or with a body that is not raw bytes
 */
export function verifyWebhook(request: WebhookRequest, options: VerifyOptions): ReceivedEvent {
  const { secrets, toleranceSeconds = defaultToleranceSeconds, now = Date.now } = options;
  checkCall(request.body, secrets, toleranceSeconds);
  const signedAt = signingTime(signaturesOf(request.headers), request.body, secrets);
  const ageSeconds = now() / 1000 - signedAt;
  if (ageSeconds > toleranceSeconds) throw new WebhookRefused('too_old');
  if (ageSeconds < -toleranceSeconds) throw new WebhookRefused('too_new');
  return parseEvent(request.body);
}

interface Signature {
  readonly timestamp: string;
  readonly mac: Buffer;
}

/** @throws WebhookRefused */
function signaturesOf(headers: RequestHeaders): Signature[] {
  const [current, previous] = signatureHeaders.map((name) => headerOf(headers, name));
  if (current === undefined) throw new WebhookRefused('missing_signature');
  return [current, ...(previous === undefined ? [] : [previous])].map(parseSignature);
}

function parseSignature(header: string): Signature {
  const [, timestamp, hex] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (timestamp === undefined || hex === undefined) throw new WebhookRefused('malformed_signature');
  return { timestamp, mac: Buffer.from(hex, 'hex') };
}

/** The time of the first signature that one of the secrets made. Every pair is compared, so the time it takes does not tell which one held. */
function signingTime(signatures: readonly Signature[], body: Uint8Array, secrets: readonly string[]): number {
  const holding = signatures.filter(
    ({ timestamp, mac }) => secrets.filter((secret) => isMacOf(mac, secret, timestamp, body)).length > 0,
  );
  const [first] = holding;
  if (first === undefined) throw new WebhookRefused('wrong_signature');
  return Number(first.timestamp);
}

/** HMAC-SHA256 of `<t>.<raw body>`, keyed with the secret's UTF-8 bytes, compared in constant time. */
function isMacOf(mac: Buffer, secret: string, timestamp: string, body: Uint8Array): boolean {
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  return timingSafeEqual(mac, expected);
}

/** Mistakes that would let forged requests through, or none at all. */
function checkCall(body: unknown, secrets: readonly unknown[], toleranceSeconds: number): void {
  if (!types.isUint8Array(body))
    throw new TypeError('body must be the raw bytes of the request (a Buffer or Uint8Array), not parsed.');
  if (!Array.isArray(secrets) || secrets.length === 0)
    throw new TypeError('secrets must be an array with at least one secret.');
  // Anybody can sign with the empty secret that a missing variable becomes.
  if (!secrets.every((secret) => typeof secret === 'string' && secret !== ''))
    throw new TypeError('A secret must be a string that is not empty.');
  if (!(toleranceSeconds >= 0)) throw new TypeError('toleranceSeconds must be 0 or more.');
}
