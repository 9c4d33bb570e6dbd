import { randomBytes } from 'node:crypto';
import { formatRecoveryCode, normalizeRecoveryCode, recoveryCodeHash } from './recovery-codes.rules.js';

it('accepts a recovery code in lower case, with or without its hyphen, and with O, I and L for digits', () => {
  const code = formatRecoveryCode(randomBytes(10));
  expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
  for (const typed of [code, code.toLowerCase(), code.replace('-', ''), ` ${code.replace('-', ' ')} `])
    expect(normalizeRecoveryCode(typed)).toBe(code);
  expect(normalizeRecoveryCode('OIL01-00000')).toBe('01101-00000');
});

it('rejects too few random bytes for a recovery code', () => {
  expect(() => formatRecoveryCode(randomBytes(9))).toThrow(RangeError);
});

it.each(['', '123456', '12345-6789', '12345-67890-1', 'UUUUU-UUUUU', '12345-6789é'])(
  'rejects %j as a recovery code',
  (typed) => {
    expect(normalizeRecoveryCode(typed)).toBeUndefined();
  },
);

it('hashes a recovery code differently for each user and key', () => {
  const [key, other] = [randomBytes(32), randomBytes(32)];
  const hash = recoveryCodeHash(key, 'a', '12345-67890');
  expect(recoveryCodeHash(key, 'a', '12345-67890')).toEqual(hash);
  expect(recoveryCodeHash(key, 'b', '12345-67890')).not.toEqual(hash);
  expect(recoveryCodeHash(other, 'a', '12345-67890')).not.toEqual(hash);
});
