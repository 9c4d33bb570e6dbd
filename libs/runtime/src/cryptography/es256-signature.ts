/**
 * Conversions of ES256 signatures, which are 64 bytes: r and s (RFC 7518 §3.4). OpenSSL has them in DER (RFC
 * 3279 §2.2.3), and Node's own conversion (`dsaEncoding: 'ieee-p1363'`) costs more than the signature itself.
 */

/** Bytes of r and of s. */
const numberBytes = 32;
const sequenceTag = 0x30;
const integerTag = 0x02;

/** Converts a P-256 signature that `sign` of node:crypto has made. */
export function es256FromDer(der: Uint8Array): Buffer {
  const signature = Buffer.alloc(2 * numberBytes);
  // The sequence is shorter than 128 bytes, so each length is one byte.
  const rEnd = copyInteger(der, 2, signature, numberBytes);
  copyInteger(der, rEnd, signature, 2 * numberBytes);
  return signature;
}

/** Converts a signature for `verify` of node:crypto; undefined if it does not have 64 bytes. */
export function es256ToDer(signature: Uint8Array): Buffer | undefined {
  if (signature.length !== 2 * numberBytes) return undefined;
  const r = derInteger(signature.subarray(0, numberBytes));
  const s = derInteger(signature.subarray(numberBytes));
  return Buffer.from([sequenceTag, r.length + s.length, ...r, ...s]);
}

/** Copies a number to the bytes before `end`. @returns where the next one begins */
function copyInteger(der: Uint8Array, start: number, target: Uint8Array, end: number): number {
  const next = start + 2 + (der[start + 1] ?? 0);
  const digits = der.subarray(Math.max(start + 2, next - numberBytes), next); // without the zero for the sign
  target.set(digits, end - digits.length);
  return next;
}

/** The shortest DER form of a positive number: a zero byte comes before a highest bit that is set. */
function derInteger(number: Uint8Array): number[] {
  let from = 0;
  while (from < numberBytes - 1 && number[from] === 0) from += 1;
  const digits = number.subarray(from);
  const sign = (digits[0] ?? 0) >= 0x80 ? [0] : [];
  return [integerTag, sign.length + digits.length, ...sign, ...digits];
}
