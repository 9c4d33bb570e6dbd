import { audiences } from '@fulfilment/contracts';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { TokenVerifier } from '@fulfilment/http-service';
import { createLogger, SecretBox } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import { randomBytes } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import * as client from 'openid-client';
import { keyRotationJob } from './key-rotation.job.js';
import { SigningKeys } from './signing-keys.js';
import { App } from '../test/app.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';

const dayMs = 86_400_000;
const rotationDays = 90;

startServer();

/** Returns a verifier like that of an API, before it has read the keys. */
const newVerifier = () =>
  new TokenVerifier({
    authUrl: server.config.AUTH_URL,
    jwksUrl: `${server.direct}/api/auth/jwks`,
    audience: audiences(server.config.BASE_URL).store,
  });
/** Verifies a token; retries while the keys cannot be read in time. */
const verify = async (api: TokenVerifier, token: string) => {
  const { caller } = await eventually(async () => {
    try {
      return { caller: await api.verify(token) };
    } catch (error) {
      if (error instanceof DependencyUnavailable) return undefined;
      throw error;
    }
  });
  return caller;
};
const keysAt = (now: Date) => new SigningKeys(server.database, server.secrets, () => now);
const inDays = (days: number) => new Date(Date.now() + days * dayMs);
const states = async () =>
  (await keysAt(new Date()).load()).keys.map(({ jwk, state }) => `${jwk.alg} ${state}`);
const rotations = () =>
  server.database.rows<{ actor: string; active: string[]; ip: string | null }>(
    testStatement(
      `SELECT details ->> 'actor' AS actor, details -> 'active' AS active, ip FROM audit_log WHERE event = 'keys_rotated' ORDER BY position`,
    ),
  );

/** Makes all keys new: tests rotate at times in the future. */
const resetAges = testStatement(
  `UPDATE signing_keys SET created_at = now(),
     activated_at = CASE WHEN state <> 'next' THEN now() END, retired_at = CASE WHEN state = 'retiring' THEN now() END`,
);
beforeEach(() => server.database.run(resetAges));

describe('three rotations in a row', () => {
  it('take effect without a restart, activate published keys, and make no token invalid', async () => {
    const rotationsBefore = await rotations();
    const app = await App.register(server);
    const api = newVerifier();
    const { tokens } = await app.signIn('openid offline_access');
    const issued = [tokens.access_token];
    let refresh = tokens.refresh_token ?? '';
    expect(await verify(api, tokens.access_token)).toMatchObject({ clientId: app.clientId });
    for (let rotation = 0; rotation < 3; rotation += 1) {
      const before = server.oidc.provider;
      const published = await (await fetch(`${server.direct}/api/auth/jwks`)).text();
      const active = await keysAt(new Date()).rotate();
      await eventually(() => server.oidc.provider !== before);
      const refreshed = await app.refresh(refresh);
      refresh = refreshed.refresh_token ?? '';
      issued.push(refreshed.access_token);
      expect(await verify(api, refreshed.access_token)).toMatchObject({ clientId: app.clientId });
      expect(active).toHaveLength(2);
      expect(active).toContain(decodeProtectedHeader(refreshed.access_token).kid);
      for (const kid of active) expect(published).toContain(kid);
    }
    const fresh = newVerifier();
    for (const token of issued) {
      expect(await verify(fresh, token)).toMatchObject({ clientId: app.clientId });
      expect(await client.tokenIntrospection(app.configuration, token)).toMatchObject({ active: true });
    }
    expect(await rotations()).toHaveLength(rotationsBefore.length + 3);
  });
});

it('rejects a rotation with another KEY_ENCRYPTION_KEY, since the services could not open the new keys', async () => {
  const before = await states();
  const keysOfOtherService = new SigningKeys(server.database, new SecretBox([randomBytes(32)]));
  await expect(keysOfOtherService.rotate()).rejects.toThrow(
    'KEY_ENCRYPTION_KEY cannot decrypt the signing keys.',
  );
  expect(await states()).toEqual(before);
});

describe('the schedule', () => {
  it('rotates once when four replicas check concurrently, and audits it', async () => {
    const before = await rotations();
    const due = inDays(rotationDays + 1);
    const results = await Promise.all([1, 2, 3, 4].map(() => keysAt(due).rotateWhenDue(rotationDays)));
    const [active, ...others] = results.filter((result) => result !== undefined);
    expect(active).toHaveLength(2);
    expect(others).toEqual([]);
    expect((await rotations()).slice(before.length)).toEqual([{ actor: 'schedule', active, ip: null }]);
  });

  it('rotates from the background loop', async () => {
    const before = await rotations();
    await server.database.run(
      testStatement(
        `UPDATE signing_keys SET created_at = now() - interval '91 days', activated_at = now() - interval '91 days' WHERE state <> 'retiring'`,
      ),
    );
    const job = keyRotationJob(
      keysAt(new Date()),
      { SIGNING_KEY_ROTATION_DAYS: rotationDays },
      createLogger('test', 'silent'),
    );
    job.start();
    await eventually(async () => (await rotations()).length > before.length);
    await job.stop();
    expect((await rotations()).at(-1)).toMatchObject({ actor: 'schedule' });
  });

  it('keeps retiring keys published for 29 days, and deletes them later', async () => {
    await keysAt(new Date()).rotate();
    const rotated = await states();
    expect(rotated).toEqual(expect.arrayContaining(['ES256 retiring', 'RS256 retiring']));
    await keysAt(inDays(29)).deleteExpiredRetiringKeys();
    expect(await states()).toEqual(rotated);
    await keysAt(inDays(31)).deleteExpiredRetiringKeys();
    expect(await states()).toEqual(['ES256 active', 'RS256 active', 'ES256 next', 'RS256 next']);
  });
});
