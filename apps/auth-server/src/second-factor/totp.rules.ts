import { Secret, TOTP } from 'otpauth';

/** RFC 6238 with what every authenticator app takes: SHA-1, six digits, 30 seconds. */
const periodSeconds = 30;
const digits = 6;
/** A code of the step before or after is good too: clocks differ, and people type (RFC 6238 §5.2). */
const window = 1;
/** Shown above the code in the app. */
const issuerName = 'Fulfilment';

/** RFC 4226 §4: at least 128 bits, 160 recommended. */
export const secretBytes = 20;

function totp(secret: Uint8Array, account = ''): TOTP {
  const bytes = new Uint8Array(secret);
  return new TOTP({
    issuer: issuerName,
    label: account,
    secret: new Secret({ buffer: bytes.buffer }),
    algorithm: 'SHA1',
    digits,
    period: periodSeconds,
  });
}

/** The time step a code belongs to, if it is good now. A step is used once: the caller remembers it. */
export function stepOfCode(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  const typed = code.replace(/[\s-]/g, '');
  if (!/^\d{6}$/.test(typed)) return undefined;
  const delta = totp(secret).validate({ token: typed, timestamp: nowMs, window });
  return delta === null ? undefined : Math.floor(nowMs / 1000 / periodSeconds) + delta;
}

/** What the QR code holds: `otpauth://totp/…`. @param account the person's e-mail address */
export function keyUri(secret: Uint8Array, account: string): string {
  return totp(secret, account).toString();
}

/** The secret for typing: base32 in groups of four. */
export function spelledSecret(secret: Uint8Array): string {
  return (totp(secret).secret.base32.match(/.{1,4}/g) ?? []).join(' ');
}
