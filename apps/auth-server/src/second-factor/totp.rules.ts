import { Secret, TOTP } from 'otpauth';
import { suiteName } from '../registration/reserved-names.rules.js';

/** RFC 6238 with the parameters that every authenticator app supports: SHA-1, six digits, 30 seconds. */
const periodSeconds = 30;
const digits = 6;
const codePattern = new RegExp(`^\\d{${digits}}$`);
/**
 * A code of the previous or next step is valid too, for clock differences and typing time (RFC 6238 §5.2).
 */
const windowSteps = 1;

/** RFC 4226 §4: at least 128 bits, 160 recommended. */
export const totpSecretBytes = 20;

function totp(secret: Uint8Array, account = ''): TOTP {
  // A copy, since the `buffer` of a Buffer may be a larger pool.
  const bytes = new Uint8Array(secret);
  return new TOTP({
    issuer: suiteName, // the app shows it above the code
    label: account,
    secret: new Secret({ buffer: bytes.buffer }),
    algorithm: 'SHA1',
    digits,
    period: periodSeconds,
  });
}

/**
 * Returns the time step of a valid code; undefined if the code is invalid. The caller stores the step, so
 * that a code is accepted once.
 */
export function findTimeStep(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  const typed = code.replace(/[\s-]/g, '');
  if (!codePattern.test(typed)) return undefined;
  const delta = totp(secret).validate({ token: typed, timestamp: nowMs, window: windowSteps });
  return delta === null ? undefined : Math.floor(nowMs / 1000 / periodSeconds) + delta;
}

/** Returns the content of the QR code: `otpauth://totp/…`. @param account e-mail address of the person */
export function keyUri(secret: Uint8Array, account: string): string {
  return totp(secret, account).toString();
}

/** Returns the secret to type: base32 in groups of four. */
export function setupKey(secret: Uint8Array): string {
  return (totp(secret).secret.base32.match(/.{1,4}/g) ?? []).join(' ');
}
