import { audiences, issuer } from '@fulfilment/contracts';
import { metrics } from '@fulfilment/runtime';
import { TokenVerifier } from '../index.js';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { eventually, listen } from '@fulfilment/testing';

const baseUrl = 'https://suite.example';

/** A fake authorization server that only publishes keys. */
async function keyServer() {
  const published = new Map<string, JWK>();
  let reads = 0;
  const { port, close } = await listen(
    createServer((_request, response) => {
      reads += 1;
      response
        .setHeader('content-type', 'application/jwk-set+json')
        .end(JSON.stringify({ keys: [...published.values()] }));
    }),
  );
  return {
    url: `http://127.0.0.1:${port}/jwks`,
    countReads: () => reads,
    close,
    remove: (kid: string) => published.delete(kid),
    publish: async () => {
      const { privateKey, publicKey } = await generateKeyPair('ES256');
      const kid = randomUUID();
      published.set(kid, { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' });
      return { kid, privateKey };
    },
  };
}

async function countReadFailures(): Promise<number> {
  return (await metrics.getSingleMetric('jwks_read_failures_total')?.get())?.values[0]?.value ?? 0;
}

function token({ kid, privateKey }: { kid: string; privateKey: CryptoKey }): Promise<string> {
  return new SignJWT({ client_id: 'an-app', scope: '' })
    .setProtectedHeader({ alg: 'ES256', kid, typ: 'at+jwt' })
    .setIssuer(issuer(baseUrl))
    .setAudience(audiences(baseUrl).store)
    .setSubject('a-person')
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime('10m')
    .sign(privateKey);
}

describe('the verification keys', () => {
  let server: Awaited<ReturnType<typeof keyServer>>;
  let verifier: TokenVerifier;
  let nowMs = performance.now();
  beforeEach(async () => {
    server = await keyServer();
    const settings = { authUrl: baseUrl, jwksUrl: server.url, audience: audiences(baseUrl).store };
    verifier = new TokenVerifier(settings, () => nowMs);
  });
  afterEach(() => server.close());

  it('are reloaded for a token with a newly published key, three times in a row', async () => {
    for (let rotation = 0; rotation < 3; rotation += 1) {
      nowMs += 1_000; // the minimum time between reads
      expect(await verifier.verify(await token(await server.publish()))).toMatchObject({
        subject: 'a-person',
      });
    }
    expect(server.countReads()).toBe(3);
  });

  it('are reloaded at most once a second for 200 tokens with unknown keys', async () => {
    const real = await server.publish();
    await verifier.verify(await token(real));
    const { privateKey } = await generateKeyPair('ES256');
    const startedAtMs = performance.now();
    const forged = await Promise.all(
      Array.from({ length: 200 }, async () =>
        verifier.verify(await token({ kid: randomUUID(), privateKey })),
      ),
    );
    expect(forged.every((caller) => caller === undefined)).toBe(true);
    // The first read, and one each second: the clock of the verifier stands still, so each later read waits a
    // second. One more is tolerated.
    expect(server.countReads()).toBeLessThanOrEqual(2 + Math.ceil((performance.now() - startedAtMs) / 1000));
  });

  it('are found for a valid token among forged ones', async () => {
    await verifier.verify(await token(await server.publish()));
    const { privateKey } = await generateKeyPair('ES256');
    const forge = async () => verifier.verify(await token({ kid: randomUUID(), privateKey }));
    const forged = Promise.all(Array.from({ length: 50 }, forge));
    const fresh = await server.publish();
    expect(await verifier.verify(await token(fresh))).toMatchObject({ subject: 'a-person' });
    await forged;
  });

  it('are reloaded every minute, so that cached tokens of a removed key are rejected', async () => {
    const [removed, kept] = [await server.publish(), await server.publish()];
    const [tokenOfRemoved, tokenOfKept] = [await token(removed), await token(kept)];
    for (const cached of [tokenOfRemoved, tokenOfRemoved, tokenOfKept])
      expect(await verifier.verify(cached)).toMatchObject({ subject: 'a-person' });
    server.remove(removed.kid);
    nowMs += 60_001;
    await eventually(async () => (await verifier.verify(tokenOfRemoved)) === undefined);
    expect(await verifier.verify(tokenOfKept)).toMatchObject({ subject: 'a-person' });
    expect(server.countReads()).toBeLessThanOrEqual(3); // the last one for the token that names a removed key
  });

  it('stay in use while they cannot be reloaded; a token with an unknown key then causes a counted error', async () => {
    const known = await server.publish();
    const unknown = await generateKeyPair('ES256');
    await verifier.verify(await token(known));
    await server.close();
    nowMs += 1_000; // the minimum time between reads
    const before = await countReadFailures();
    expect(await verifier.verify(await token(known))).toMatchObject({ subject: 'a-person' });
    await expect(
      verifier.verify(await token({ kid: randomUUID(), privateKey: unknown.privateKey })),
    ).rejects.toThrow('The signing keys could not be read.');
    expect(await countReadFailures()).toBe(before + 1);
  });
});
