import { createPublicKey, verify } from 'node:crypto';
import { makeKey } from '../../keys/make-key.js';
import { LocalSigningKey } from './signing-key.js';

describe('an ES256 signature', () => {
  it('has exactly 32 bytes for each of its two numbers, whether it needs 31 or has its highest bit set (RFC 7518 §3.4)', async () => {
    const jwk = await makeKey('ES256');
    const key = new LocalSigningKey(jwk);
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    const seen = { short: false, high: false };
    // About one signature in 128 has a number of 31 bytes. In one of four, both have the highest bit set.
    for (let count = 0; count < 20_000 && !(seen.short && seen.high); count += 1) {
      const data = Buffer.from(`message ${count}`);
      const signature = key.signEs256(data);
      expect(signature).toHaveLength(64);
      expect(verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
      seen.short ||= signature[0] === 0 || signature[32] === 0;
      seen.high ||= (signature[0] ?? 0) >= 0x80 && (signature[32] ?? 0) >= 0x80;
    }
    expect(seen).toEqual({ short: true, high: true });
  });
});
