import { createLocalJWKSet, jwtVerify } from 'jose';
import { SigningKeys } from './signing-keys.js';
import { App } from '../test/app.fixture.js';
import { json } from '../test/json.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServer();

describe('the public keys (RFC 7517)', () => {
  it('can be read from another origin, can be cached, and contain nothing private', async () => {
    const response = await server.fetch(`${server.url}/api/auth/jwks`, {
      headers: { origin: 'https://a.example' },
    });
    expect(response.headers.get('access-control-allow-origin')).toBe('https://a.example');
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const { keys } = await json(response);
    expect(keys.map(({ alg }: { alg: string }) => alg)).toEqual(['ES256', 'RS256', 'ES256', 'RS256']);
    for (const key of keys)
      for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key).not.toHaveProperty(secret);
  });

  it.each(['ES256', 'RS256'])('verify access tokens, and ID tokens with %s (RFC 7518 §3)', async (alg) => {
    const app = await App.register(server, { id_token_signed_response_alg: alg });
    const { tokens } = await app.signIn('openid offline_access');
    const refreshed = await app.refresh(tokens.refresh_token ?? '');
    const published = createLocalJWKSet(await json(await server.fetch(`${server.url}/api/auth/jwks`)));
    for (const { id_token, access_token } of [tokens, refreshed]) {
      const { protectedHeader } = await jwtVerify(id_token ?? '', published, { audience: app.clientId });
      expect(protectedHeader.alg).toBe(alg);
      await jwtVerify(access_token, published, { typ: 'at+jwt', algorithms: ['ES256'] });
    }
  });
});

describe('the first start', () => {
  it('creates one set of keys when several replicas start concurrently', async () => {
    await server.database.run(testStatement('DELETE FROM signing_keys'));
    const replicas = [1, 2, 3].map(() => new SigningKeys(server.database, server.secrets));
    await Promise.all(replicas.map((keys) => keys.ensureKeys()));
    const { keys } = await new SigningKeys(server.database, server.secrets).load();
    expect(keys.map(({ jwk, state }) => `${jwk.alg} ${state}`)).toEqual([
      'ES256 active',
      'RS256 active',
      'ES256 next',
      'RS256 next',
    ]);
  });
});
