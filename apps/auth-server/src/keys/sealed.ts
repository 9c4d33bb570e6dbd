import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts a secret for storage: nonce, tag and ciphertext in one. @param boundTo whose secret it is; it opens for nothing else */
export function seal(key: Buffer, secret: string, boundTo: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(boundTo));
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** @throws when the key is another, or the bytes were changed or belong to something else */
export function unseal(key: Buffer, sealed: Buffer, boundTo: string): string {
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(Buffer.from(boundTo))
    .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]).toString(
    'utf8',
  );
}
