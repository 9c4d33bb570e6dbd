import { Injectable } from '@nestjs/common';
import { createSecretKey, type KeyObject } from 'node:crypto';
import { SecretBox } from '@fulfilment/runtime';

const mostRemembered = 10_000;

/** Opened secrets as keys to sign with. Opening one and making a key of it costs ten times the signature, so they are kept in memory. */
@Injectable()
export class SigningKeys {
  private readonly keys = new Map<string, KeyObject>();

  constructor(private readonly box: SecretBox) {}

  /** @throws as SecretBox.open does */
  of(sealed: Buffer, subscriptionId: string): KeyObject {
    const name = subscriptionId + sealed.toString('latin1'); // a secret is sealed to its subscription, never twice alike
    const known = this.keys.get(name);
    if (known !== undefined) return known;
    const key = createSecretKey(this.box.open(sealed, subscriptionId));
    const oldest = this.keys.keys().next().value;
    if (this.keys.size >= mostRemembered && oldest !== undefined) this.keys.delete(oldest);
    this.keys.set(name, key);
    return key;
  }
}
