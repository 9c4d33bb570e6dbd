import type { ReceivedDelivery } from '@fulfilment/testing';
import { createHmac, timingSafeEqual } from 'node:crypto';

const toleranceSeconds = 300;

/** As a subscriber would check it, from the interface alone: HMAC-SHA256 over `<t>.<raw body>`, and not too old. */
export function signatureHolds({ headers, rawBody }: ReceivedDelivery, secret: string): boolean {
  const header = headers['x-service-signature'];
  if (typeof header !== 'string') return false;
  const [, timestamp = '', given = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const expected = createHmac('sha256', Buffer.from(secret)).update(`${timestamp}.`).update(rawBody).digest();
  const received = Buffer.from(given, 'hex');
  const fresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds;
  return fresh && received.length === expected.length && timingSafeEqual(received, expected);
}
