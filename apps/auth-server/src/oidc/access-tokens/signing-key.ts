import { es256FromDer } from '@fulfilment/runtime';
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { ExternalSigningKey } from 'oidc-provider';
import type { PrivateJwk } from '../../keys/make-key.js';

const signOnThreadPool = promisify(sign);

/**
 * A key that makes ES256 signatures in the current thread. oidc-provider signs in another thread, which costs
 * more than the P-256 signature itself. An RSA signature is twenty times as expensive and still uses another
 * thread.
 */
export class LocalSigningKey extends ExternalSigningKey {
  private readonly privateKey: KeyObject;
  private readonly publicKey: KeyObject;

  constructor(private readonly jwk: PrivateJwk) {
    super();
    this.privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
    this.publicKey = createPublicKey(this.privateKey);
  }

  override get kid(): string {
    return this.jwk.kid;
  }

  override get alg(): string {
    return this.jwk.alg;
  }

  override keyObject(): KeyObject {
    return this.publicKey;
  }

  override sign(data: Uint8Array): Buffer | Promise<Buffer> {
    return this.jwk.alg === 'ES256'
      ? this.signEs256(data)
      : signOnThreadPool('sha256', data, this.privateKey);
  }

  signEs256(data: Uint8Array): Buffer {
    return es256FromDer(sign('sha256', data, this.privateKey));
  }
}
