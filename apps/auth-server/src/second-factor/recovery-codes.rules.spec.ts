import { expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { recoveryCode, recoveryCodeHash, typedRecoveryCode } from './recovery-codes.rules.js';

it('reads a code however it was typed', () => {
  const code = recoveryCode(randomBytes(16));
  expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
  for (const typed of [code, code.toLowerCase(), code.replace('-', ''), ` ${code.replace('-', ' ')} `])
    expect(typedRecoveryCode(typed)).toBe(code);
  expect(typedRecoveryCode('OIL01-00000')).toBe('01101-00000');
});

it.each(['', '123456', '12345-6789', '12345-67890-1', 'UUUUU-UUUUU', '12345-6789é'])(
  'takes %j for none',
  (typed) => {
    expect(typedRecoveryCode(typed)).toBeUndefined();
  },
);

it('hashes it for one user and one key', () => {
  const [key, other] = [randomBytes(32), randomBytes(32)];
  const hash = recoveryCodeHash(key, 'a', '12345-67890');
  expect(recoveryCodeHash(key, 'a', '12345-67890')).toEqual(hash);
  expect(recoveryCodeHash(key, 'b', '12345-67890')).not.toEqual(hash);
  expect(recoveryCodeHash(other, 'a', '12345-67890')).not.toEqual(hash);
});
