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
 * Secrets at rest: AES-256-GCM, each bound to its owner. Sealed form: key id (4 bytes of the key's SHA-256), IV (12), tag (16),
 * ciphertext. The key id is what makes keys replaceable: the newest seals, each opens what it sealed.
 */
export class SecretBox {
  private readonly named: readonly Key[];
  private readonly newest: Key;

  /** @param keys of 32 bytes, newest first */
  constructor(keys: readonly Buffer[]) {
    this.named = keys.map((bytes) => ({
      id: createHash('sha256').update(bytes).digest().subarray(0, keyIdBytes),
      key: createSecretKey(bytes),
    }));
    const [newest] = this.named;
    if (newest === undefined) throw new Error('No key for the secrets was given.');
    this.newest = newest;
  }

  get keys(): readonly KeyObject[] {
    return this.named.map(({ key }) => key);
  }

  /** What begins everything that is sealed from now on. */
  get newestKeyId(): Buffer {
    return this.newest.id;
  }

  /** @param boundTo whose secret it is: it opens for nothing else */
  seal(secret: string, boundTo: string): Buffer {
    return this.sealBytes(Buffer.from(secret, 'utf8'), boundTo);
  }

  /** The same secret under the newest key and its present owner. @throws as `open` does */
  reseal(sealed: Buffer, boundTo: string, formerly?: string): Buffer {
    return this.sealBytes(this.open(sealed, boundTo, formerly), boundTo);
  }

  /**
   * The secret's UTF-8 bytes.
   * @param formerly how the same owner was named before its type was part of the name
   * @throws when the key is not known, or the bytes are not those that were sealed for this owner
   */
  open(sealed: Buffer, boundTo: string, formerly?: string): Buffer {
    if (formerly === undefined) return this.openFor(sealed, boundTo);
    try {
      return this.openFor(sealed, boundTo);
    } catch {
      return this.openFor(sealed, formerly);
    }
  }

  private openFor(sealed: Buffer, boundTo: string): Buffer {
    const keyId = sealed.subarray(0, keyIdBytes);
    const known = this.named.find(({ id }) => id.equals(keyId));
    if (known !== undefined) return opened(known.key, sealed.subarray(keyIdBytes), boundTo);
    // What auth-server sealed before its keys had ids begins with the IV.
    for (const { key } of this.named) {
      try {
        return opened(key, sealed, boundTo);
      } catch {
        // another key, or none
      }
    }
    throw new Error('A secret was sealed with a key that is not among those that were given.');
  }

  private sealBytes(secret: Buffer, boundTo: string): Buffer {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.newest.key, iv).setAAD(Buffer.from(boundTo));
    const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([this.newest.id, iv, cipher.getAuthTag(), ciphertext]);
  }
}

/** @param sealed IV, tag, ciphertext */
function opened(key: KeyObject, sealed: Buffer, boundTo: string): Buffer {
  const tagEnd = ivBytes + tagBytes;
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(boundTo))
    .setAuthTag(sealed.subarray(ivBytes, tagEnd));
  return Buffer.concat([decipher.update(sealed.subarray(tagEnd)), decipher.final()]);
}
