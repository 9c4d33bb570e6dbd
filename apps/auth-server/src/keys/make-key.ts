import { calculateJwkThumbprint } from 'jose';
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';

export const signingAlgorithms = ['ES256', 'RS256'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** A private key in JWK form, with the members of its type (RFC 7518 §6). */
export const privateJwk = z.looseObject({
  kty: z.string(),
  kid: z.string(),
  alg: z.enum(signingAlgorithms),
  use: z.literal('sig'),
  d: z.string(),
});
export type PrivateJwk = z.infer<typeof privateJwk>;

const generate = promisify(generateKeyPair);

/** Creates a key. Its id is the RFC 7638 thumbprint. */
export async function makeKey(alg: SigningAlgorithm): Promise<PrivateJwk> {
  const { privateKey } =
    alg === 'ES256'
      ? await generate('ec', { namedCurve: 'P-256' })
      : await generate('rsa', { modulusLength: 2048 });
  const jwk = privateKey.export({ format: 'jwk' });
  return privateJwk.parse({ ...jwk, alg, use: 'sig', kid: await calculateJwkThumbprint(jwk) });
}
