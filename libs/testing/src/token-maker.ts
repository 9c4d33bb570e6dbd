import { audiences, issuer } from '@fulfilment/contracts';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { listen } from './listen.js';

export type TokenMaker = Awaited<ReturnType<typeof tokenMaker>>;

/** A header parameter that no API understands. Tests list it in `crit` (RFC 7515 §4.1.11). */
export const unknownCriticalParameter = 'urn:example:rule';

/** Starts a fake authorization server, which publishes its key and signs tokens. */
export async function tokenMaker() {
  const baseUrl = 'https://suite.localhost';
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'test', alg: 'ES256', use: 'sig' };
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/jwk-set+json').end(JSON.stringify({ keys: [jwk] }));
  });
  const { port, close } = await listen(server);
  return {
    baseUrl,
    authUrl: baseUrl,
    jwksUrl: `http://127.0.0.1:${port}/jwks`,
    /** Signs a token like the authorization server. `claims` override the defaults; undefined omits one. */
    token: (
      claims: Readonly<Record<string, unknown>> = {},
      header: Readonly<Record<string, unknown>> = {},
    ): Promise<string> => {
      const { store, creator } = audiences(baseUrl);
      const nowSeconds = Math.floor(Date.now() / 1000);
      return new SignJWT({
        iss: issuer(baseUrl),
        sub: randomUUID(),
        aud: [store, creator],
        client_id: 'test-client',
        scope: '',
        jti: randomUUID(),
        iat: nowSeconds,
        exp: nowSeconds + 600,
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', kid: 'test', typ: 'at+jwt', ...header })
        .sign(privateKey, { crit: { [unknownCriticalParameter]: true } });
    },
    stop: close,
  };
}
