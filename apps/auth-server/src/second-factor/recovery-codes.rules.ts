import { createHmac } from 'node:crypto';

/** Crockford's base32: no letters that look like digits. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeLength = 10;

export const recoveryCodeCount = 10;

/**
 * Returns a code of 50 bits, `XXXXX-XXXXX`.
 * @param random at least ten random bytes
 * @throws RangeError for fewer bytes
 */
export function formatRecoveryCode(random: Uint8Array): string {
  if (random.length < codeLength) throw new RangeError(`A recovery code needs ${codeLength} random bytes.`);
  return withHyphen(
    [...random.subarray(0, codeLength)].map((byte) => alphabet.charAt(byte % alphabet.length)).join(''),
  );
}

/** Normalises a typed recovery code; undefined when it does not have the form of one. */
export function normalizeRecoveryCode(typed: string): string | undefined {
  const text = typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  return /^[0-9A-HJKMNP-TV-Z]{10}$/.test(text) ? withHyphen(text) : undefined;
}

function withHyphen(text: string): string {
  return `${text.slice(0, codeLength / 2)}-${text.slice(codeLength / 2)}`;
}

/**
 * Returns the stored form of a code.
 * @param key secret of the authenticator app; it is sealed at rest, so a stolen database is not enough to
 * guess codes
 */
export function recoveryCodeHash(key: Uint8Array, userId: string, code: string): Buffer {
  return createHmac('sha256', key).update(`recovery-code:${userId}:${code}`).digest();
}
