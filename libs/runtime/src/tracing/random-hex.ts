import { randomUUID } from 'node:crypto';

/**
 * Returns 16 bytes as hexadecimal digits: the random bits of a UUIDv4, and its 6 fixed ones. Node buffers
 * randomness for UUIDs, so most calls need no system call.
 */
export function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}
