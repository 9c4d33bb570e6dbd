import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { isTooLong, maxPasswordLength } from './new-password.rules.js';

/** OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const saltBytes = 16;
const hashBytes = 32;
/** Limits hashing, so that a burst of sign-ins leaves processor time for the token endpoint. */
const maxConcurrent = 2;
/** Further hashes get 503. The last in the queue waits about 1.3 s, as one hash takes 40 ms. */
const maxWaiting = 64;

const phcPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const derive = promisify(argon2);

let running = 0;
const waiting: (() => void)[] = [];

/**
 * Returns the PHC string of a password.
 * @throws RangeError for a password that is too long
 * @throws ServiceUnavailable when too many passwords are waiting to be hashed
 */
export async function hashPassword(password: string): Promise<string> {
  if (isTooLong(password)) throw new RangeError(`A password has at most ${maxPasswordLength} code points.`);
  const salt = randomBytes(saltBytes);
  const hash = await limitConcurrency(() => argon2id(password, salt, cost));
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${encodeWithoutPadding(salt)}$${encodeWithoutPadding(hash)}`;
}

/**
 * Whether a password matches a stored hash. Without a hash of this form, as for an unknown user, it takes the
 * same time and returns false, so that the duration does not reveal whether the user exists.
 * @throws ServiceUnavailable when too many passwords are waiting to be hashed
 */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, memory, passes, parallelism, salt, hash] = phcPattern.exec(stored ?? '') ?? [];
  if (salt === undefined || hash === undefined) {
    await limitConcurrency(() => argon2id(password, Buffer.alloc(saltBytes), cost));
    return false;
  }
  const expected = Buffer.from(hash, 'base64');
  const actual = await limitConcurrency(() =>
    argon2id(password, Buffer.from(salt, 'base64'), {
      memory: Number(memory),
      passes: Number(passes),
      parallelism: Number(parallelism),
    }),
  );
  return !isTooLong(password) && actual.length === expected.length && timingSafeEqual(actual, expected);
}

function argon2id(
  password: string,
  nonce: Buffer,
  { memory, passes, parallelism }: { memory: number; passes: number; parallelism: number },
): Promise<Buffer> {
  // NFC: the same password typed on another keyboard is the same bytes (RFC 8265 §4.2). The time of
  // normalize() grows with the square of a run of combining marks, so a password that is too long is not
  // normalised. The callers reject it.
  const message = isTooLong(password) ? '' : password.normalize('NFC');
  return derive('argon2id', { message, nonce, memory, passes, parallelism, tagLength: hashBytes });
}

/**
 * Runs `work`, which hashes a password. While `maxConcurrent` others are running, it waits, in order of
 * arrival.
 * @throws ServiceUnavailable when too many are waiting
 */
async function limitConcurrency<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= maxConcurrent) {
    if (waiting.length >= maxWaiting) throw new ServiceUnavailable('Too many people are signing in at once.');
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    // The slot passes to the next waiter, so `running` stays.
    if (next !== undefined) next();
    else running -= 1;
  }
}

function encodeWithoutPadding(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
