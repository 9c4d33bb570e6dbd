import { randomBytes } from 'node:crypto';
import { SecretBox, UnreadableSecret } from './secret-box.js';

const [older, newer] = [randomBytes(32), randomBytes(32)];

describe('SecretBox', () => {
  it.each(['x', '', ' \u0000é🎶', '🎶'.repeat(256)])('opens what it sealed, byte for byte: %j', (secret) => {
    const box = new SecretBox([newer]);
    expect(box.open(box.seal(secret, 'a'), 'a')).toEqual(Buffer.from(secret, 'utf8'));
  });

  it('opens secrets of an old key, and seals with the newest one', () => {
    const sealed = new SecretBox([older]).seal('secret', 'a');
    const rotated = new SecretBox([newer, older]);
    expect(rotated.open(sealed, 'a').toString()).toBe('secret');
    for (const resealed of [rotated.seal('secret', 'a'), rotated.reseal(sealed, 'a')]) {
      expect(new SecretBox([newer]).open(resealed, 'a').toString()).toBe('secret');
    }
    const open = () => new SecretBox([newer]).open(sealed, 'a');
    expect(open).toThrow(UnreadableSecret);
    expect(open).toThrow('not among the given keys');
  });

  it('rejects a secret of another owner, and a changed or incomplete one', () => {
    const box = new SecretBox([newer]);
    const sealed = box.seal('secret', 'a');
    expect(() => box.open(sealed, 'b')).toThrow(UnreadableSecret);
    for (const length of [0, 4, 16, 31, 32]) {
      expect(() => box.open(sealed.subarray(0, length), 'a')).toThrow(UnreadableSecret);
    }
    sealed.writeUInt8(sealed.readUInt8(sealed.length - 1) ^ 1, sealed.length - 1);
    expect(() => box.open(sealed, 'a')).toThrow(UnreadableSecret);
  });

  it('seals the same bytes differently each time', () => {
    const box = new SecretBox([newer]);
    expect(box.seal('secret', 'a').equals(box.seal('secret', 'a'))).toBe(false);
  });
});
