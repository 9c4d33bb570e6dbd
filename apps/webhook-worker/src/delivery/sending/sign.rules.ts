import { createHmac, type KeyObject, sign } from 'node:crypto';
import type { HmacKeys } from '../../subscriptions/keys/signing-keys.js';

/**
 * Returns `t=<unix_seconds>,v1=<hex>`, with the HMAC-SHA256 of `<t>.<raw body>` (docs/receiving-webhooks.md).
 */
export function serviceSignature({ service }: HmacKeys, unixSeconds: number, body: Buffer): string {
  return `t=${unixSeconds},v1=${hmac(service, `${unixSeconds}.`, body).digest('hex')}`;
}

/** Returns `v1,<base64>`, with the HMAC-SHA256 of `<id>.<unix_seconds>.<raw body>` (Standard Webhooks). */
export function standardSignature(
  { standard }: HmacKeys,
  id: string,
  unixSeconds: number,
  body: Buffer,
): string {
  return `v1,${hmac(standard, `${id}.${unixSeconds}.`, body).digest('base64')}`;
}

/** Returns `v1a,<base64>`, the Ed25519 signature of `<id>.<unix_seconds>.<raw body>` (Standard Webhooks). */
export function asymmetricSignature(
  privateKey: KeyObject,
  id: string,
  unixSeconds: number,
  body: Buffer,
): string {
  const signed = Buffer.concat([Buffer.from(`${id}.${unixSeconds}.`), body]);
  return `v1a,${sign(null, signed, privateKey).toString('base64')}`;
}

function hmac(key: KeyObject, prefix: string, body: Buffer) {
  return createHmac('sha256', key).update(prefix).update(body);
}
