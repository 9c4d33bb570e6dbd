import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';
import { z } from 'zod';

/** Prefixes of public ids. */
export type IdPrefix =
  | 'prod' // product, release
  | 'ord' // order
  | 'rate' // shipping rate
  | 'whk' // webhook subscription
  | 'whd' // webhook delivery
  | 'whr' // recovery of webhook deliveries
  | 'crt' // creator
  | 'evt' // event
  | 'svc'; // shipping service

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'; // Crockford base32, lower case
const encodedLength = 26; // 128 bits in 5-bit digits
/** The value of each hexadecimal digit, by its character code. */
const hexValues = Object.fromEntries(
  Array.from('0123456789abcdef', (digit, value) => [digit.charCodeAt(0), value]),
);
/** The two digits of each 10-bit number. Lists contain many ids, so an id is encoded in few steps. */
const pairs = Array.from(
  { length: 1024 },
  (_, value) => alphabet.charAt(value >> 5) + alphabet.charAt(value & 31),
);
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The Nil UUID (RFC 9562 §5.9). It sorts before every id, so a list ordered by id starts after it. */
export const nilUuid = '00000000-0000-0000-0000-000000000000';

/** The Max UUID (RFC 9562 §5.10). It sorts after every id. */
export const maxUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const bytesPerId = 16;
/** Random bytes of the next ids. Node makes 4 KiB in hardly more time than the 16 bytes of one id. */
const randomBytes = Buffer.alloc(4096);
let usedBytes = randomBytes.length;
/** Time and sequence number of the last id (RFC 9562 §6.2, method 1). */
const last = { msecs: 0, seq: 0 };

function nextRandomBytes(): Buffer {
  if (usedBytes === randomBytes.length) {
    randomFillSync(randomBytes);
    usedBytes = 0;
  }
  usedBytes += bytesPerId;
  return randomBytes.subarray(usedBytes - bytesPerId, usedBytes);
}

/**
 * Returns a new UUIDv7 (RFC 9562 §5.7). Without a given time, the ids of a process sort in the order of their
 * creation.
 */
export function uuidv7(time?: Date): string {
  const random = nextRandomBytes();
  if (time !== undefined) return v7({ msecs: time.getTime(), random });
  const now = Date.now();
  if (now > last.msecs) {
    last.msecs = now;
    last.seq = random.readUInt32BE() >>> 1; // 31 of its 32 bits, so that it can be incremented
  } else last.seq += 1;
  return v7({ ...last, random });
}

/**
 * Accepts a UUID in upper or lower case (RFC 9562 §4), and returns it in lower case, as it is stored and
 * compared. It may have any version and variant, since clients choose the ids of their tracks.
 */
export const uuid = z.guid().toLowerCase();

/** Returns whether a text is a UUID in lower case, the form that is stored and shown. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/** Returns the Store API's form of a row's UUID: `ord_` and 26 Crockford base32 digits. */
export function publicId(prefix: IdPrefix, uuid: string): string {
  let text = `${prefix}_`;
  let bits = 0; // read from the UUID, not yet encoded
  let bitCount = 2; // 26 digits have 130 bits, so the first two are zero
  for (let index = 0; index < uuid.length; index += 1) {
    const value = hexValues[uuid.charCodeAt(index)];
    if (value === undefined) continue; // a hyphen
    bits = (bits << 4) | value;
    bitCount += 4;
    if (bitCount < 10) continue; // too few for two digits
    bitCount -= 10;
    text += pairs[bits >> bitCount];
    bits &= (1 << bitCount) - 1;
  }
  return text;
}

/** Returns the UUID of a public id; undefined if the text is not a public id with this prefix. */
export function parsePublicId(prefix: IdPrefix, text: string): string | undefined {
  if (text.length !== prefix.length + 1 + encodedLength || !text.startsWith(`${prefix}_`)) return undefined;
  let value = 0n;
  for (const character of text.slice(prefix.length + 1)) {
    const digit = alphabet.indexOf(character);
    if (digit < 0) return undefined;
    value = (value << 5n) | BigInt(digit);
  }
  if (value >= 1n << 128n) return undefined;
  return formatUuid(value.toString(16).padStart(32, '0'));
}

/** Returns the text of a UUID. @param hex its 32 hexadecimal digits */
export function formatUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Returns the schema of an id in responses. It is opaque; only its prefix is part of the contract. */
export function idShape(prefix: IdPrefix, description: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_`))
    .describe(description);
}
