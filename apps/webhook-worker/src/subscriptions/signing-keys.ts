import { Injectable } from '@nestjs/common';
import { createSecretKey, type KeyObject } from 'node:crypto';
import { SecretBox } from '@fulfilment/runtime';

const maxCachedKeys = 10_000;

/**
 * Caches opened secrets as signing keys. Opening a secret and creating its key costs ten times as much as
 * signing.
 */
@Injectable()
export class SigningKeys {
  private readonly keys = new Map<string, KeyObject>();

  constructor(private readonly box: SecretBox) {}

  /** @throws as SecretBox.open does */
  get(sealed: Buffer, subscriptionId: string): KeyObject {
    const cacheKey = subscriptionId + sealed.toString('latin1'); // each sealing of a secret is unique
    const cached = this.keys.get(cacheKey);
    if (cached !== undefined) return cached;
    const key = createSecretKey(this.box.open(sealed, subscriptionId));
    const oldest = this.keys.keys().next().value;
    if (this.keys.size >= maxCachedKeys && oldest !== undefined) this.keys.delete(oldest);
    this.keys.set(cacheKey, key);
    return key;
  }
}
