import { readFileSync } from 'node:fs';
import type { PublicKey } from './index.js';

interface SignedRequest {
  readonly name: string;
  /** The receiver's clock, UNIX seconds. */
  readonly now: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body_base64: string;
  /** `accepted`, or the code of the failed check. */
  readonly outcome: string;
}
export interface Vector extends SignedRequest {
  readonly secrets: readonly string[];
}
export interface AsymmetricVector extends SignedRequest {
  readonly public_keys: readonly PublicKey[];
}

export const vectorsFile = new URL('../vectors.json', import.meta.url);

/** Test vectors for implementations in any language: `vectors` with secrets, `v1a` with public keys. */
export const {
  vectors,
  v1a,
}: { readonly vectors: readonly Vector[]; readonly v1a: readonly AsymmetricVector[] } = JSON.parse(
  readFileSync(vectorsFile, 'utf8'),
);
