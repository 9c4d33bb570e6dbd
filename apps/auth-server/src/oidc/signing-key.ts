import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { ExternalSigningKey } from 'oidc-provider';
import type { PrivateJwk } from '../keys/make-key.js';

/**
 * A key that signs where it is asked to. oidc-provider's own way hands every signature to another thread, which costs more than the
 * P-256 signature itself; one of RSA is twenty times as dear and goes there.
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
    return this.jwk.alg === 'ES256' ? this.signAtOnce(data) : this.signElsewhere(data);
  }

  /** Asking Node for the form that is wanted costs as much as the signature again, so it is made here. */
  signAtOnce(data: Uint8Array): Buffer {
    return joined(sign('sha256', data, this.privateKey));
  }

  private signElsewhere(data: Uint8Array): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      sign('sha256', data, this.privateKey, (error, signature) => {
        if (error === null) resolve(signature);
        else reject(error);
      });
    });
  }
}

const coordinateBytes = 32;

/**
 * The two numbers of a P-256 signature one behind the other (RFC 7518 §3.4), from DER (RFC 3279 §2.2.3): SEQUENCE, its length, and each number as
 * INTEGER, its length, its bytes without leading zeros, but with one where it would else look negative.
 */
function joined(der: Buffer): Buffer {
  const signature = Buffer.alloc(2 * coordinateBytes);
  const rAt = 4;
  const rEnd = rAt + der.readUInt8(rAt - 1);
  const sAt = rEnd + 2;
  const sEnd = sAt + der.readUInt8(sAt - 1);
  if (sEnd !== der.length) throw new Error('OpenSSL no longer writes P-256 signatures as it did.');
  copyNumber(der, rAt, rEnd, signature, coordinateBytes);
  copyNumber(der, sAt, sEnd, signature, 2 * coordinateBytes);
  return signature;
}

/** Its last bytes at the end of its place. */
function copyNumber(from: Buffer, start: number, end: number, to: Buffer, placeEnd: number): void {
  const first = Math.max(start, end - coordinateBytes);
  from.copy(to, placeEnd - (end - first), first, end);
}
