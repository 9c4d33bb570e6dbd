import { audiences, issuer } from '@fulfilment/contracts';
import { TokenVerifier } from '@fulfilment/http-service';
import { eventually } from '@fulfilment/testing';
import { importJWK, SignJWT } from 'jose';
import { randomUUID } from 'node:crypto';
import { SigningKeys } from './signing-keys.js';
import { App } from '../test/app.fixture.js';
import { auditRecords } from '../test/audit-records.fixture.js';
import { runCommand, startServerWithOperator } from '../test/operator.fixture.js';
import { server } from '../test/server.fixture.js';

startServerWithOperator();

/** Reads the active private key, which an attacker has in this test. */
async function readActiveKey() {
  const { keys } = await new SigningKeys(server.database, server.secrets).load();
  const leaked = keys.find(({ jwk, state }) => jwk.alg === 'ES256' && state === 'active')?.jwk;
  if (leaked === undefined) throw new Error('There is no active key.');
  return leaked;
}

it('the runbook’s steps after a leaked signing key end forged tokens, even cached ones, within a minute, but no refresh token', async () => {
  let nowMs = 0;
  const { store } = audiences(server.config.BASE_URL);
  const settings = {
    authUrl: server.config.AUTH_URL,
    jwksUrl: `${server.direct}/api/auth/jwks`,
    audience: store,
  };
  const api = new TokenVerifier(settings, () => nowMs);
  const app = await App.register(server);
  const { tokens } = await app.signIn('openid offline_access');
  const leaked = await readActiveKey();
  const forged = await new SignJWT({ client_id: 'thief', scope: 'orders:create' })
    .setProtectedHeader({ alg: 'ES256', kid: leaked.kid, typ: 'at+jwt' })
    .setIssuer(issuer(server.config.AUTH_URL))
    .setAudience(store)
    .setSubject(server.users.harbourOwner.user_id)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(await importJWK(leaked));
  expect(await api.verify(forged)).toMatchObject({ clientId: 'thief' });

  await runCommand('keys rotate');
  await expect(runCommand('keys remove', { KEY: 'unknown' })).rejects.toThrow(
    'The key unknown does not exist.',
  );
  expect(await runCommand('keys remove', { KEY: leaked.kid })).toEqual({ kid: leaked.kid, removed: true });
  const { keys } = await runCommand('keys list');
  expect(keys.map(({ kid }: { kid: string }) => kid)).not.toContain(leaked.kid);
  await eventually(async () => {
    const published = await (await fetch(settings.jwksUrl)).text();
    return !published.includes(leaked.kid);
  });
  nowMs += 60_001; // the APIs read the keys every minute
  await eventually(async () => (await api.verify(forged)) === undefined);

  const refreshed = await app.refresh(tokens.refresh_token ?? '');
  expect(await api.verify(refreshed.access_token)).toMatchObject({ clientId: app.clientId });
  expect(await auditRecords(server, { event: 'signing_key_removed' })).toEqual([
    expect.objectContaining({ details: { actor: 'operator', kid: leaked.kid } }),
  ]);
});

it('keys remove rejects the active key, and replaces a removed next key', async () => {
  const { keys } = await runCommand('keys list');
  const [active, next] = ['active', 'next'].map((state) =>
    keys.find((key: { alg: string; state: string }) => key.alg === 'ES256' && key.state === state),
  );
  await expect(runCommand('keys remove', { KEY: active.kid })).rejects.toThrow('Rotate the keys first');
  await runCommand('keys remove', { KEY: next.kid });
  const after = (await runCommand('keys list')).keys;
  expect(after.map(({ kid }: { kid: string }) => kid)).not.toContain(next.kid);
  expect(after.filter(({ state }: { state: string }) => state === 'next')).toHaveLength(2);
});
