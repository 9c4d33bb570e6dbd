import { createHmac, type KeyObject } from 'node:crypto';

/** `t=<unix_seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the secret's UTF-8 bytes (docs/receiving-webhooks.md). */
export function signature(secret: KeyObject, unixSeconds: number, body: Buffer): string {
  const hex = createHmac('sha256', secret).update(`${unixSeconds}.`).update(body).digest('hex');
  return `t=${unixSeconds},v1=${hex}`;
}
