import { Injectable } from '@nestjs/common';
import { createSecretKey, type KeyObject } from 'node:crypto';
import { SecretBox } from '@fulfilment/runtime';
import { privateKeyOf } from './key-pairs.js';
import { setNewest } from '../../set-newest.js';

/** Bounds the memory of each cache. */
const maxCachedKeys = 10_000;

/** The HMAC keys of one secret. */
export interface HmacKeys {
  /** Signs `X-Service-Signature`: the UTF-8 bytes of the secret. */
  readonly service: KeyObject;
  /**
   * Signs `webhook-signature`: the decoded base64 after `whsec_`; for other secrets, the same as `service`.
   */
  readonly standard: KeyObject;
}

export function hmacKeysOf(secret: Buffer): HmacKeys {
  const service = createSecretKey(secret);
  const bytes = standardKeyBytes(secret.toString('utf8'));
  return { service, standard: bytes === undefined ? service : createSecretKey(bytes) };
}

function standardKeyBytes(secret: string): Buffer | undefined {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+)={0,2}$/.exec(secret) ?? [];
  // A single character after the last group of four is not base64; Buffer would ignore it.
  if (base64 === undefined || base64.length % 4 === 1) return undefined;
  return Buffer.from(base64, 'base64');
}

/**
 * Opens the sealed secrets and private keys of subscriptions, and caches their keys: opening one costs ten
 * times as much as signing.
 */
@Injectable()
export class SigningKeys {
  private readonly hmacKeys = new Map<string, HmacKeys>();
  private readonly privateKeys = new Map<string, KeyObject>();

  constructor(private readonly box: SecretBox) {}

  /** Returns the HMAC keys of a secret. @throws UnreadableSecret */
  getHmacKeys(sealed: Buffer, subscriptionId: string): HmacKeys {
    return this.open(this.hmacKeys, sealed, subscriptionId, hmacKeysOf);
  }

  /** Returns the private key of a key pair. @throws UnreadableSecret */
  getPrivateKey(sealed: Buffer, subscriptionId: string): KeyObject {
    return this.open(this.privateKeys, sealed, subscriptionId, privateKeyOf);
  }

  private open<Key>(
    cache: Map<string, Key>,
    sealed: Buffer,
    subscriptionId: string,
    create: (opened: Buffer) => Key,
  ): Key {
    // Each sealing has a random nonce, so a new secret has another cache key.
    const cacheKey = subscriptionId + sealed.toString('latin1');
    const cached = cache.get(cacheKey);
    if (cached !== undefined) return cached;
    const key = create(this.box.open(sealed, subscriptionId));
    setNewest(cache, cacheKey, key, maxCachedKeys);
    return key;
  }
}
