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
const ivEnd = keyIdBytes + ivBytes;
const tagEnd = ivEnd + tagBytes;

interface Key {
  readonly id: Buffer;
  /** Created once: creating it from bytes costs more than using it. */
  readonly key: KeyObject;
}

/** A sealed secret cannot be opened: its key is not given, it was changed, or it has another owner. */
export class UnreadableSecret extends Error {
  override readonly name = 'UnreadableSecret';
}

/**
 * Encrypts secrets at rest with AES-256-GCM, bound to their owner. Sealed form: key id (4 bytes of the key's
 * SHA-256), IV (12), tag (16), ciphertext. The newest key seals; the older ones only open what they sealed.
 */
export class SecretBox {
  private readonly keyring: readonly Key[];
  private readonly newest: Key;

  /** @param keys 32 bytes each, newest first */
  constructor(keys: readonly Buffer[]) {
    this.keyring = keys.map((bytes) => ({
      id: createHash('sha256').update(bytes).digest().subarray(0, keyIdBytes),
      key: createSecretKey(bytes),
    }));
    const [newest] = this.keyring;
    if (newest === undefined) throw new Error('No encryption key was given.');
    this.newest = newest;
  }

  get keys(): readonly KeyObject[] {
    return this.keyring.map(({ key }) => key);
  }

  /** Prefix of everything sealed with the newest key. */
  get newestKeyId(): Buffer {
    return this.newest.id;
  }

  /** @param owner the owner of the secret; it cannot be opened for another owner */
  seal(secret: string, owner: string): Buffer {
    return this.sealBytes(Buffer.from(secret, 'utf8'), owner);
  }

  /** Encrypts the secret with the newest key. @throws as `open` does */
  reseal(sealed: Buffer, owner: string): Buffer {
    return this.sealBytes(this.open(sealed, owner), owner);
  }

  /** Returns the secret's UTF-8 bytes. @throws UnreadableSecret */
  open(sealed: Buffer, owner: string): Buffer {
    const keyId = sealed.subarray(0, keyIdBytes);
    const known = this.keyring.find(({ id }) => id.equals(keyId));
    if (known === undefined) {
      throw new UnreadableSecret('A secret was encrypted with a key that is not among the given keys.');
    }
    if (sealed.length < tagEnd) throw new UnreadableSecret('A sealed secret is too short.');
    const decipher = createDecipheriv(algorithm, known.key, sealed.subarray(keyIdBytes, ivEnd), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(owner))
      .setAuthTag(sealed.subarray(ivEnd, tagEnd));
    const secret = decipher.update(sealed.subarray(tagEnd));
    try {
      return Buffer.concat([secret, decipher.final()]);
    } catch (cause) {
      throw new UnreadableSecret('A sealed secret was changed, or belongs to another owner.', { cause });
    }
  }

  private sealBytes(secret: Buffer, owner: string): Buffer {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.newest.key, iv).setAAD(Buffer.from(owner));
    const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([this.newest.id, iv, cipher.getAuthTag(), ciphertext]);
  }
}
