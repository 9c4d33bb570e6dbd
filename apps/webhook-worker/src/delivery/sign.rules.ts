import { createHmac, type KeyObject } from 'node:crypto';

/**
 * Returns `t=<unix_seconds>,v1=<hex>`, with the HMAC-SHA256 of `<t>.<raw body>`, keyed with the UTF-8 bytes
 * of the secret (docs/receiving-webhooks.md).
 */
export function signature(secret: KeyObject, unixSeconds: number, body: Buffer): string {
  const hex = createHmac('sha256', secret).update(`${unixSeconds}.`).update(body).digest('hex');
  return `t=${unixSeconds},v1=${hex}`;
}
