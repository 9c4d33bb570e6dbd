/**
 * Which check a request did not pass:
 * - `missing_signature`: it has no `X-Service-Signature`
 * - `malformed_signature`: a signature header has not the form `t=<unix_seconds>,v1=<64 hex digits>`, or came twice
 * - `wrong_signature`: none of the secrets signed these bytes
 * - `too_old`, `too_new`: signed genuinely, but longer ago, or further ahead, than the tolerance
 * - `malformed_body`: signed genuinely, but no event
 */
export type Refusal =
  'missing_signature' | 'malformed_signature' | 'wrong_signature' | 'too_old' | 'too_new' | 'malformed_body';

const messages: Readonly<Record<Refusal, string>> = {
  missing_signature: 'The request has no X-Service-Signature header.',
  malformed_signature: 'A signature header has not the form t=<unix_seconds>,v1=<hex>.',
  wrong_signature: 'No secret made this signature of these bytes: a wrong secret, or not the raw body.',
  too_old: 'The delivery was signed longer ago than the tolerance: a replay, or a clock that is wrong.',
  too_new: 'The delivery was signed further in the future than the tolerance: a clock is wrong.',
  malformed_body: 'The body is signed, but no event.',
};

/** A request that is not to be believed. Its message tells neither secrets nor signatures nor the body: it may be logged. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused';
  readonly code: Refusal;

  constructor(code: Refusal) {
    super(messages[code]);
    this.code = code;
  }
}
