import { createCipheriv, randomBytes } from 'node:crypto';
import { SecretBox } from './secret-box.js';

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
    expect(new SecretBox([newer]).open(rotated.seal('secret', 'a'), 'a').toString()).toBe('secret');
    expect(() => new SecretBox([newer]).open(sealed, 'a')).toThrow('not among the given keys');
  });

  it('opens a secret under a former name of its owner, and reseals it under the current one', () => {
    const sealed = new SecretBox([older]).seal('secret', 'a');
    const box = new SecretBox([newer, older]);
    expect(box.open(sealed, 'client:a', 'a').toString()).toBe('secret');
    const resealed = box.reseal(sealed, 'client:a', 'a');
    expect(box.open(resealed, 'client:a').toString()).toBe('secret');
    expect(() => box.open(resealed, 'a')).toThrow();
    expect(() => box.open(sealed, 'client:b', 'b')).toThrow();
  });

  it('rejects a secret of another owner, and a changed one', () => {
    const box = new SecretBox([newer]);
    const sealed = box.seal('secret', 'a');
    expect(() => box.open(sealed, 'b')).toThrow();
    sealed.writeUInt8(sealed.readUInt8(sealed.length - 1) ^ 1, sealed.length - 1);
    expect(() => box.open(sealed, 'a')).toThrow();
  });

  it('opens a secret without a key id, and reseals it with one', () => {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', older, iv).setAAD(Buffer.from('a'));
    const ciphertext = Buffer.concat([cipher.update('secret'), cipher.final()]);
    const sealed = Buffer.concat([iv, cipher.getAuthTag(), ciphertext]);
    const rotated = new SecretBox([newer, older]);
    expect(rotated.open(sealed, 'a').toString()).toBe('secret');
    expect(() => rotated.open(sealed, 'b')).toThrow();
    expect(new SecretBox([newer]).open(rotated.reseal(sealed, 'a'), 'a').toString()).toBe('secret');
  });

  it('seals the same bytes differently each time', () => {
    const box = new SecretBox([newer]);
    expect(box.seal('secret', 'a').equals(box.seal('secret', 'a'))).toBe(false);
  });
});
