import { expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { seal, unseal } from './sealed.js';

it('opens with its key for its owner, and for nobody else', () => {
  const key = randomBytes(32);
  const sealed = seal(key, 'a secret', 'a');
  expect(unseal(key, sealed, 'a')).toBe('a secret');
  expect(sealed.toString('latin1')).not.toContain('a secret');
  expect(seal(key, 'a secret', 'a').equals(sealed)).toBe(false);
  expect(() => unseal(key, sealed, 'b')).toThrow();
  expect(() => unseal(randomBytes(32), sealed, 'a')).toThrow();
  sealed.writeUInt8(sealed.readUInt8(sealed.length - 1) ^ 1, sealed.length - 1);
  expect(() => unseal(key, sealed, 'a')).toThrow();
});
