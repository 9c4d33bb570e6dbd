import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import type { PublicKey } from '../subscription.shapes.js';

/** Returns a new Ed25519 private key in the text form that is sealed and stored. */
export function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
}

/** @param opened bytes of the text form that `newPrivateKey` returns */
export function privateKeyOf(opened: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.from(opened.toString(), 'base64'), format: 'der', type: 'pkcs8' });
}

export function publicKeyOf(privateKey: KeyObject): PublicKey {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  const requiredMembers = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }); // in the order of RFC 7638
  const kid = createHash('sha256').update(requiredMembers).digest('base64url');
  return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x };
}
