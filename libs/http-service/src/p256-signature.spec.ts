import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync, sign } from 'node:crypto';
import { p256FromDer, p256ToDer } from './p256-signature.js';

const filled = (r: readonly number[], s: readonly number[]) => {
  const number = (head: readonly number[]) =>
    Buffer.concat([Buffer.from(head), Buffer.alloc(32 - head.length, 0x11)]);
  return Buffer.concat([number(r), number(s)]);
};

describe('a P-256 signature', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  it('converted from DER and back equals the signature of OpenSSL', () => {
    for (let turn = 0; turn < 1_000; turn += 1) {
      const data = Buffer.from(`message ${turn}`);
      const der = sign('sha256', data, privateKey);
      const joined = p256FromDer(der);
      expect(joined).toHaveLength(64);
      expect(p256ToDer(joined)).toEqual(der);
    }
  });

  it.each([
    { name: 'the highest bit set in both numbers', signature: filled([0xff], [0x80]) },
    { name: 'numbers of 31 and 30 bytes', signature: filled([0, 0x7f], [0, 0, 0x01]) },
    { name: 'a short number whose first bit is set', signature: filled([0, 0x80], [0x01]) },
    { name: 'numbers of one byte', signature: Buffer.concat([Buffer.alloc(63), Buffer.from([1])]) },
  ])('keeps $name', ({ signature }) => {
    expect(p256FromDer(p256ToDer(signature))).toEqual(signature);
  });
});
