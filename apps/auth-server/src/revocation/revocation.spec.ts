import { eventually } from '@fulfilment/testing';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { App } from '../test/app.fixture.js';
import { auditRecords } from '../test/audit-records.fixture.js';
import { json } from '../test/json.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { isActive, isDenied } from '../test/token-states.fixture.js';

startServer();

const signIn = async (metadata: Readonly<Record<string, unknown>> = {}) => {
  const app = await App.register(server, metadata);
  const { tokens } = await app.signIn('openid offline_access orders:read');
  return { app, tokens, refreshToken: tokens.refresh_token ?? '' };
};

describe('revocation (RFC 7009)', () => {
  it('ends only the revoked access token, at introspection, at UserInfo and on the deny list (§2.1)', async () => {
    const { app, tokens, refreshToken } = await signIn();
    await client.tokenRevocation(app.configuration, tokens.access_token);
    expect(await isActive(app, tokens.access_token)).toBe(false);
    expect(await isDenied(tokens.access_token)).toBe(true);
    await expect(
      client.fetchUserInfo(app.configuration, tokens.access_token, client.skipSubjectCheck),
    ).rejects.toMatchObject({ status: 401 });
    await expect(app.refresh(refreshToken)).resolves.toHaveProperty('access_token');
  });

  it('succeeds during six refreshes with the revoked token, and ends the family with the new tokens', async () => {
    const app = await App.register(server);
    // The order in which the requests are handled differs between rounds.
    for (let round = 0; round < 12; round += 1) {
      const { tokens } = await app.signIn('openid offline_access');
      const refreshToken = tokens.refresh_token ?? '';
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
      const refreshes = Array.from({ length: 6 }, () => app.post('token', form));
      const revoked = await app.post('revoke', { token: refreshToken });
      const responses = await Promise.all(refreshes);
      expect(revoked.status).toBe(200);
      expect(responses.filter(({ status }) => status >= 500)).toEqual([]);
      const issued = await Promise.all(responses.filter(({ ok }) => ok).map(json));
      for (const token of [tokens.access_token, ...issued.map(({ access_token }) => String(access_token))])
        expect(await isActive(app, token)).toBe(false);
    }
  });

  it('is published again within 25 s after Redis lost its data', async () => {
    const { app, tokens } = await signIn();
    await client.tokenRevocation(app.configuration, tokens.access_token);
    const { client: redis } = server.redis;
    // The key is set at the end of each round that publishes all tokens, so no round is in progress then.
    await redis.del('deny-list:told');
    await eventually(async () => (await redis.exists('deny-list:told')) === 1);
    const startedAt = performance.now();
    await redis.del('deny-list:told', `deny:${decodeJwt(tokens.access_token).jti}`);
    await eventually(() => isDenied(tokens.access_token));
    expect(performance.now() - startedAt).toBeLessThan(25_000); // all tokens are published every 30 s anyway
  });

  it('ends the family of a revoked refresh token: every access token and the refresh token (§2.1)', async () => {
    const { app, tokens, refreshToken } = await signIn();
    const next = await app.refresh(refreshToken);
    await client.tokenRevocation(app.configuration, next.refresh_token ?? '');
    for (const { access_token } of [tokens, next]) {
      expect(await isActive(app, access_token)).toBe(false);
      expect(await isDenied(access_token)).toBe(true);
    }
    await expect(app.refresh(next.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it.each(['access_token', 'refresh_token', 'nonsense'])(
    'finds both kinds of token with the hint %s (§2.1)',
    async (token_type_hint) => {
      const { app, tokens, refreshToken } = await signIn();
      await client.tokenRevocation(app.configuration, tokens.access_token, { token_type_hint });
      expect(await isActive(app, tokens.access_token)).toBe(false);
      await client.tokenRevocation(app.configuration, refreshToken, { token_type_hint });
      expect(await isActive(app, refreshToken)).toBe(false);
    },
  );

  it('responds with 200 to an unknown or already revoked token (§2.2)', async () => {
    const { app, tokens } = await signIn();
    for (const token of [
      'garbage',
      'eyAiYWxnIjoiRVMyNTYifQ.e30.x', // a JWT whose header contains a space
      tokens.access_token,
      tokens.access_token,
      tokens.id_token ?? '',
    ]) {
      const response = await app.post('revoke', { token });
      expect([response.status, await response.text()]).toEqual([200, '']);
    }
  });

  it('does nothing to the tokens of another client (§2.1)', async () => {
    const { app, tokens, refreshToken } = await signIn();
    const otherClient = await App.register(server);
    for (const token of [tokens.access_token, refreshToken]) await otherClient.post('revoke', { token });
    expect(await isActive(app, tokens.access_token)).toBe(true);
    await expect(app.refresh(refreshToken)).resolves.toHaveProperty('access_token');
  });

  it('requires the secret of a confidential client', async () => {
    const { app, tokens } = await signIn({ token_endpoint_auth_method: 'client_secret_basic' });
    expect((await app.post('revoke', { token: tokens.access_token })).status).toBe(401);
    expect(await isActive(app, tokens.access_token)).toBe(true);
    await client.tokenRevocation(app.configuration, tokens.access_token);
    expect(await isActive(app, tokens.access_token)).toBe(false);
  });

  it('responds with invalid_request without a token', async () => {
    const { app } = await signIn();
    const response = await app.post('revoke', {});
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'invalid_request' });
  });

  it('is audited with the user, for a token and for a family', async () => {
    const { app, tokens, refreshToken } = await signIn();
    await client.tokenRevocation(app.configuration, tokens.access_token);
    await client.tokenRevocation(app.configuration, refreshToken);
    const records = await auditRecords(server, { clientId: app.clientId });
    const email = 'owner@harbour.example';
    expect(records.filter(({ event }) => event.startsWith('token_'))).toMatchObject([
      { event: 'token_issued', email },
      { event: 'token_revoked', email },
      { event: 'token_family_ended', email },
    ]);
  });

  it('stays in effect when Redis loses it, and is published to Redis once more after a reconnection', async () => {
    const { app, tokens } = await signIn();
    await client.tokenRevocation(app.configuration, tokens.access_token);
    await server.redis.client.del(`deny:${decodeJwt(tokens.access_token).jti}`);
    expect(await isActive(app, tokens.access_token)).toBe(false);
    server.redis.client.disconnect(true);
    await eventually(() => isDenied(tokens.access_token));
  });
});
