import { randomUUID } from 'node:crypto';

/**
 * Returns 16 random bytes, of which a UUIDv4 fixes six bits. Unlike Node's other generators, this one is
 * buffered: one system call serves many calls.
 */
export function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}
