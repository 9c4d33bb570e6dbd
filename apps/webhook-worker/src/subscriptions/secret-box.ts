import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const algorithm = 'aes-256-gcm';
const keyIdBytes = 4;
const ivBytes = 12;
const tagBytes = 16;

interface Key {
  readonly id: Buffer;
  /** Made once: Node makes one of bytes at each use, which costs more than the use. */
  readonly key: KeyObject;
}

/**
 * Secrets at rest: AES-256-GCM, bound to their subscription. Sealed form: key id (4 bytes of the key's SHA-256), IV (12), tag (16),
 * ciphertext. The key id is what makes keys replaceable: the newest seals, each opens what it sealed.
 */
export class SecretBox {
  private readonly keys: readonly Key[];
  private readonly newest: Key;

  /** @param keys of 32 bytes, newest first */
  constructor(keys: readonly Buffer[]) {
    this.keys = keys.map((bytes) => ({
      id: createHash('sha256').update(bytes).digest().subarray(0, keyIdBytes),
      key: createSecretKey(bytes),
    }));
    const [newest] = this.keys;
    if (newest === undefined) throw new Error('No key for the secrets was given.');
    this.newest = newest;
  }

  /** What begins everything that is sealed from now on. */
  get newestKeyId(): Buffer {
    return this.newest.id;
  }

  seal(secret: string, subscriptionId: string): Buffer {
    return this.sealBytes(Buffer.from(secret, 'utf8'), subscriptionId);
  }

  /** The same secret under the newest key. @throws as `open` does */
  reseal(sealed: Buffer, subscriptionId: string): Buffer {
    return this.sealBytes(this.open(sealed, subscriptionId), subscriptionId);
  }

  /** The secret's UTF-8 bytes. @throws when the key is not known, or the bytes are not those that were sealed */
  open(sealed: Buffer, subscriptionId: string): Buffer {
    const keyId = sealed.subarray(0, keyIdBytes);
    const key = this.keys.find(({ id }) => id.equals(keyId));
    if (key === undefined)
      throw new Error('A secret was sealed with a key that is not in SECRET_ENCRYPTION_KEY.');
    const iv = sealed.subarray(keyIdBytes, keyIdBytes + ivBytes);
    const tagEnd = keyIdBytes + ivBytes + tagBytes;
    const decipher = createDecipheriv(algorithm, key.key, iv)
      .setAAD(Buffer.from(subscriptionId))
      .setAuthTag(sealed.subarray(keyIdBytes + ivBytes, tagEnd));
    return Buffer.concat([decipher.update(sealed.subarray(tagEnd)), decipher.final()]);
  }

  private sealBytes(secret: Buffer, subscriptionId: string): Buffer {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.newest.key, iv).setAAD(Buffer.from(subscriptionId));
    const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([this.newest.id, iv, cipher.getAuthTag(), ciphertext]);
  }
}
