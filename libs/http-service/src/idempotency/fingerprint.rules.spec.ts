import { createSecretKey } from 'node:crypto';
import { fingerprint, keyedFingerprint } from './fingerprint.rules.js';

describe('fingerprint', () => {
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

  it('depends on the values of members and on the key, but not on the order of members', () => {
    const secret = keyedFingerprint({ secret: 's', url: 'u' }, key);
    expect(secret).toEqual(keyedFingerprint({ url: 'u', secret: 's' }, key));
    expect(secret).not.toEqual(keyedFingerprint({ secret: 't', url: 'u' }, key));
    expect(secret).not.toEqual(keyedFingerprint({ secret: 's', url: 'u' }, otherKey));
    expect(secret).not.toEqual(fingerprint({ secret: 's', url: 'u' }));
  });
});
