import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { es256FromDer, es256ToDer } from './es256-signature.js';

describe('ES256 signatures', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const text = Buffer.from('text');
  const p1363 = { dsaEncoding: 'ieee-p1363' } as const;

  it('verify after a conversion from DER to 64 bytes, and after one from 64 bytes to DER', () => {
    const signature = es256FromDer(sign('sha256', text, privateKey));
    expect(verify('sha256', text, { key: publicKey, ...p1363 }, signature)).toBe(true);
    const der = es256ToDer(sign('sha256', text, { key: privateKey, ...p1363 }));
    expect(verify('sha256', text, publicKey, der ?? Buffer.alloc(0))).toBe(true);
  });

  it.each([
    ['the highest bit', 'ff'.repeat(32), `022100${'ff'.repeat(32)}`],
    ['a leading zero', `00${'7f'.repeat(31)}`, `021f${'7f'.repeat(31)}`],
    ['a leading zero before the highest bit', `00${'80'.repeat(31)}`, `022000${'80'.repeat(31)}`],
    ['one byte', '01'.padStart(64, '0'), '020101'],
    ['only zeros', '00'.repeat(32), '020100'],
  ])('encode a number with %s in as few bytes as possible', (_name, number, encoded) => {
    const signature = Buffer.from(`${number}${'01'.repeat(32)}`, 'hex');
    const der = es256ToDer(signature);
    // The second number takes 34 bytes: tag, length and 32 bytes of value.
    expect(der?.toString('hex')).toBe(
      `30${(encoded.length / 2 + 34).toString(16)}${encoded}0220${'01'.repeat(32)}`,
    );
    expect(es256FromDer(der ?? Buffer.alloc(0))).toEqual(signature);
  });

  it.each([
    ['zeros', Buffer.alloc(64)],
    ['ones', Buffer.alloc(64, 0xff)],
    ['an r of zero', Buffer.concat([Buffer.alloc(32), Buffer.alloc(32, 1)])],
  ])('of %s are never valid (CVE-2022-21449)', (_name, signature) => {
    const der = es256ToDer(signature) ?? Buffer.alloc(0);
    expect(der.length).toBeGreaterThan(0);
    expect(verify('sha256', text, publicKey, der)).toBe(false);
  });

  it.each([0, 63, 65])('are not converted when they have %i bytes', (length) => {
    expect(es256ToDer(Buffer.alloc(length))).toBeUndefined();
  });
});
