/**
 * Conversions of ES256 signatures. In a JWT they are 64 bytes: r and s (RFC 7518 §3.4). OpenSSL uses DER (RFC
 * 3279 §2.2.3), and Node's own conversion (`dsaEncoding: 'ieee-p1363'`) costs more than the signature itself.
 */

/** Bytes of r and of s. */
const numberBytes = 32;
const sequenceTag = 0x30;
const integerTag = 0x02;

/** Converts a P-256 signature of `sign` of node:crypto. */
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

/**
 * Copies the DER integer at `start` to the bytes of `target` that end before `targetEnd`.
 * @returns where the next integer begins
 */
function copyInteger(der: Uint8Array, start: number, target: Uint8Array, targetEnd: number): number {
  const next = start + 2 + (der[start + 1] ?? 0);
  const digits = der.subarray(Math.max(start + 2, next - numberBytes), next); // without the zero for the sign
  target.set(digits, targetEnd - digits.length);
  return next;
}

/** Encodes a number without leading zeros, but with one if the first bit would make it negative. */
function derInteger(number: Uint8Array): number[] {
  let firstDigit = 0;
  while (firstDigit < numberBytes - 1 && number[firstDigit] === 0) firstDigit += 1;
  const digits = number.subarray(firstDigit);
  const sign = (digits[0] ?? 0) >= 0x80 ? [0] : [];
  return [integerTag, sign.length + digits.length, ...sign, ...digits];
}
