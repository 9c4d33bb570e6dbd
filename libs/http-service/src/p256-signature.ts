const coordinateBytes = 32;

/**
 * Converts a P-256 signature from DER (RFC 3279 §2.2.3) to its two numbers in sequence (RFC 7518 §3.4). DER
 * is SEQUENCE and its length, then each number as INTEGER, its length, and its bytes without leading zeros,
 * except one that keeps the number positive. Node's own conversion costs half as much as the signature, so it
 * is done here.
 */
export function p256FromDer(der: Buffer): Buffer {
  const signature = Buffer.alloc(2 * coordinateBytes);
  const rAt = 4;
  const rEnd = rAt + der.readUInt8(rAt - 1);
  const sAt = rEnd + 2;
  const sEnd = sAt + der.readUInt8(sAt - 1);
  if (sEnd !== der.length) throw new Error('The format of P-256 signatures of OpenSSL has changed.');
  copyNumber(der, rAt, rEnd, signature, coordinateBytes);
  copyNumber(der, sAt, sEnd, signature, 2 * coordinateBytes);
  return signature;
}

/** @param signature 64 bytes */
export function p256ToDer(signature: Buffer): Buffer {
  const r = derNumber(signature.subarray(0, coordinateBytes));
  const s = derNumber(signature.subarray(coordinateBytes));
  return Buffer.concat([Buffer.from([0x30, r.length + s.length]), r, s]);
}

/** Copies the last bytes of a number, aligned to `placeEnd`. */
function copyNumber(from: Buffer, start: number, end: number, to: Buffer, placeEnd: number): void {
  const first = Math.max(start, end - coordinateBytes);
  from.copy(to, placeEnd - (end - first), first, end);
}

function derNumber(bytes: Buffer): Buffer {
  let first = 0;
  while (first < bytes.length - 1 && bytes[first] === 0) first += 1;
  const digits = bytes.subarray(first);
  const zeros = (digits[0] ?? 0) >= 0x80 ? [0] : [];
  return Buffer.concat([Buffer.from([0x02, zeros.length + digits.length, ...zeros]), digits]);
}
