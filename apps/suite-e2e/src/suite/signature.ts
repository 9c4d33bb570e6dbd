import type { ReceivedDelivery } from '@fulfilment/testing';
import { createHmac, timingSafeEqual } from 'node:crypto';

const toleranceSeconds = 300;

/** Verifies a delivery as the interface describes: HMAC-SHA256 over `<t>.<raw body>`, sent within 300 s. */
export function isValidSignature({ headers, rawBody }: ReceivedDelivery, secret: string): boolean {
  const header = headers['x-service-signature'];
  if (typeof header !== 'string') return false;
  const [, timestamp = '', signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const expected = createHmac('sha256', Buffer.from(secret)).update(`${timestamp}.`).update(rawBody).digest();
  const received = Buffer.from(signature, 'hex');
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds;
  return isFresh && received.length === expected.length && timingSafeEqual(received, expected);
}
