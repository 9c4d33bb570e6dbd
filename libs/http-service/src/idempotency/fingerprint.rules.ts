import { createHash, createHmac, hkdfSync, type KeyObject } from 'node:crypto';

const keyBytes = 32;

/** SHA-256 of a validated body, independent of the order of its members. */
export function fingerprint(body: unknown): Buffer {
  return createHash('sha256').update(toCanonicalJson(body)).digest();
}

/**
 * Returns the fingerprint of a body that contains a secret. With the SHA-256 alone, a person who can read the
 * table could guess the secret.
 * @param key a key of the service, from which the key of the fingerprint is derived
 */
export function keyedFingerprint(body: unknown, key: KeyObject): Buffer {
  const derived = hkdfSync('sha256', key, '', 'idempotency-key fingerprint', keyBytes);
  return createHmac('sha256', Buffer.from(derived)).update(toCanonicalJson(body)).digest();
}

function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${toCanonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
