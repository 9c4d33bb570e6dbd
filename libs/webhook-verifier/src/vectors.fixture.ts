import { readFileSync } from 'node:fs';

export interface Vector {
  readonly name: string;
  readonly secrets: readonly string[];
  /** The receiver's clock, UNIX seconds. */
  readonly now: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body_base64: string;
  /** `accepted`, or the code of the failed check. */
  readonly outcome: string;
}

export const vectorsFile = new URL('../vectors.json', import.meta.url);

/** Test vectors for implementations in any language. */
export const { vectors }: { readonly vectors: readonly Vector[] } = JSON.parse(
  readFileSync(vectorsFile, 'utf8'),
);
