import { randomUUID } from 'node:crypto';

/**
 * 16 random bytes, except six bits. Unlike Node's other generators, this one is buffered: one system call
 * serves many calls.
 */
export function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}
