/**
 * The check that failed:
 * - `missing_signature`: the request has no `X-Service-Signature`; with public keys, no `webhook-id`, no
 *   `webhook-timestamp`, or no `v1a` in `webhook-signature`
 * - `malformed_signature`: a header `X-Service-Signature…` is not `t=<unix_seconds>,v1=<64 hex digits>`, or
 *   is repeated; with public keys, a `v1a` does not have 64 bytes, or `webhook-timestamp` is not a number
 * - `wrong_signature`: none of the secrets or keys matches the signature of these bytes
 * - `too_old`, `too_new`: the signature is valid, but older or further in the future than the tolerance
 * - `malformed_body`: the signature is valid, but the body is not an event
 */
export type WebhookVerificationErrorCode =
  'missing_signature' | 'malformed_signature' | 'wrong_signature' | 'too_old' | 'too_new' | 'malformed_body';

const messages: Readonly<Record<WebhookVerificationErrorCode, string>> = {
  missing_signature:
    'A header is missing: X-Service-Signature; with public keys webhook-id, webhook-timestamp or webhook-signature with a v1a.',
  malformed_signature: 'A header of the signature does not have its documented form.',
  wrong_signature: 'No signature matches: the secret or key is wrong, or the body is not the raw body.',
  too_old: 'The timestamp is older than the tolerance: the delivery is a replay, or a clock is wrong.',
  too_new: 'The timestamp is further in the future than the tolerance: a clock is wrong.',
  malformed_body: 'The signature is valid, but the body is not an event.',
};

/** The request failed verification. The message contains no secret, signature or body: it may be logged. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookVerificationErrorCode;

  constructor(code: WebhookVerificationErrorCode) {
    super(messages[code]);
    this.code = code;
  }
}
