import { createHash, createSecretKey } from 'node:crypto';
import { fingerprint, keyedFingerprint } from './fingerprint.rules.js';

const body = { b: [1, 2], a: 'x' };
const canonicalBody = '{"a":"x","b":[1,2]}';

// Stored fingerprints are compared with those of later versions.
describe('fingerprint', () => {
  it('is the SHA-256 of the canonical JSON', () => {
    expect(fingerprint(body)).toEqual(createHash('sha256').update(canonicalBody).digest());
  });

  it('does not depend on the order of members, and ignores undefined ones', () => {
    expect(fingerprint({ a: 1, b: { c: [1, 2], d: undefined } })).toEqual(
      fingerprint({ b: { c: [1, 2] }, a: 1 }),
    );
  });

  it.each([
    [{ a: 1 }, { a: 2 }],
    [{ a: '1' }, { a: 1 }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: { b: 1 } }, { a: [{ b: 1 }] }],
    [{ a: [1] }, { a: { 0: 1 } }],
    [{ ab: 'c' }, { a: 'bc' }],
  ])('differs for %j and %j', (one, other) => {
    expect(fingerprint(one)).not.toEqual(fingerprint(other));
  });
});

describe('keyedFingerprint', () => {
  const [key, otherKey] = [createSecretKey(Buffer.alloc(32, 1)), createSecretKey(Buffer.alloc(32, 2))];

  it('stays the same in later versions', () => {
    expect(keyedFingerprint(body, key).toString('hex')).toBe(
      '5f96fc733e8634bcde1433a7a4a8df289091627b2c2df7433006f9968c0f29fa',
    );
  });

  it('depends on the values of members and on the key, but not on the order of members', () => {
    const secret = keyedFingerprint({ secret: 's', url: 'u' }, key);
    expect(secret).toEqual(keyedFingerprint({ url: 'u', secret: 's' }, key));
    expect(secret).not.toEqual(keyedFingerprint({ secret: 't', url: 'u' }, key));
    expect(secret).not.toEqual(keyedFingerprint({ secret: 's', url: 'u' }, otherKey));
    expect(secret).not.toEqual(fingerprint({ secret: 's', url: 'u' }));
  });
});
