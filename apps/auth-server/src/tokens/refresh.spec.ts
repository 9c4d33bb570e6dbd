import { decodeJwt } from 'jose';
import { ageFamilies, expire, refreshTokenSecondsLeft } from '../test/backdate.fixture.js';
import { App } from '../test/app.fixture.js';
import { server, startServer } from '../test/server.fixture.js';

const daySeconds = 24 * 3600;
startServer();

const signIn = async (scope: string) => {
  const app = await App.register(server);
  const { tokens } = await app.signIn(scope);
  return { app, refreshToken: tokens.refresh_token ?? '', tokens };
};

describe('a refresh (RFC 6749 §6)', () => {
  it('returns new tokens for the same person and client, with a new refresh token (RFC 9700 §4.14.2)', async () => {
    const { app, tokens, refreshToken } = await signIn('openid offline_access orders:read');
    const next = await app.refresh(refreshToken);
    expect(next.refresh_token).toEqual(expect.any(String));
    expect(next.refresh_token).not.toBe(refreshToken);
    const { jti, iat, exp, ...same } = decodeJwt(next.access_token);
    const { jti: before, iat: _iat, exp: _exp, ...claims } = decodeJwt(tokens.access_token);
    expect(same).toEqual(claims);
    expect(jti).not.toBe(before);
    expect(Number(exp) - Number(iat)).toBe(3600);
    expect(next.claims()?.sub).toBe(tokens.claims()?.sub);
    expect(next.claims()?.auth_time).toBe(tokens.claims()?.auth_time);
  });

  it('can narrow the scope of one access token, and the next has the whole scope', async () => {
    const { app, refreshToken } = await signIn('offline_access orders:read webhooks:read');
    const narrow = await app.refresh(refreshToken, { scope: 'orders:read' });
    expect(narrow.scope).toBe('orders:read');
    expect(decodeJwt(narrow.access_token).scope).toBe('orders:read');
    const full = await app.refresh(narrow.refresh_token ?? '');
    expect(String(decodeJwt(full.access_token).scope).split(' ').toSorted()).toEqual([
      'offline_access',
      'orders:read',
      'webhooks:read',
    ]);
  });

  it('never widens the scope, and the refresh token stays valid', async () => {
    const { app, refreshToken } = await signIn('offline_access orders:read');
    await expect(app.refresh(refreshToken, { scope: 'orders:read orders:create' })).rejects.toMatchObject({
      error: 'invalid_scope',
    });
    await expect(app.refresh(refreshToken)).resolves.toHaveProperty('access_token');
  });

  it('is rejected when another client requests it, and ends nothing (RFC 6749 §10.4)', async () => {
    const { app, refreshToken } = await signIn('offline_access orders:read');
    const thief = await App.register(server);
    await expect(thief.refresh(refreshToken)).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(app.refresh(refreshToken)).resolves.toHaveProperty('access_token');
  });

  it('is rejected for an access token, a code, an ID token or nothing', async () => {
    const { app, tokens } = await signIn('openid offline_access orders:read');
    const { shown } = await app.authorize('openid offline_access');
    for (const other of [
      tokens.access_token,
      tokens.id_token ?? '',
      shown.url.searchParams.get('code') ?? '',
      '',
    ]) {
      const response = await app.post('token', { grant_type: 'refresh_token', refresh_token: other });
      expect(response.status).toBe(400);
    }
  });
});

describe('the lifetime of a refresh token (RFC 9700 §4.14.2)', () => {
  it('is 30 days, and restarts with each refresh', async () => {
    const { app, refreshToken } = await signIn('offline_access orders:read');
    const first = await refreshTokenSecondsLeft(server, app.clientId);
    expect(Math.abs(first - 30 * daySeconds)).toBeLessThan(60);
    await ageFamilies(server, app.clientId, 25 * daySeconds);
    await app.refresh(refreshToken);
    expect(Math.abs((await refreshTokenSecondsLeft(server, app.clientId)) - 30 * daySeconds)).toBeLessThan(
      60,
    );
  });

  it('ends at the latest 90 days after the start of its family', async () => {
    const { app, refreshToken } = await signIn('offline_access orders:read');
    await ageFamilies(server, app.clientId, 85 * daySeconds);
    await app.refresh(refreshToken);
    expect(Math.abs((await refreshTokenSecondsLeft(server, app.clientId)) - 5 * daySeconds)).toBeLessThan(60);
  });

  it('makes a refresh fail with invalid_grant when it is over', async () => {
    const { app, refreshToken } = await signIn('offline_access orders:read');
    await expire(server, 'RefreshToken', app.clientId);
    await expect(app.refresh(refreshToken)).rejects.toMatchObject({ error: 'invalid_grant' });
  });
});

describe('offline_access (OpenID Connect Core §11)', () => {
  it('is required and sufficient for a refresh token', async () => {
    expect((await signIn('offline_access orders:read')).refreshToken).not.toBe('');
    expect((await signIn('openid orders:read')).refreshToken).toBe('');
  });

  it('gives no refresh token to a client that did not register refresh_token', async () => {
    const app = await App.register(server, { grant_types: ['authorization_code'] });
    const { tokens } = await app.signIn('offline_access orders:read');
    expect(tokens.refresh_token).toBeUndefined();
    const response = await app.post('token', { grant_type: 'refresh_token', refresh_token: 'x' });
    expect(response.status).toBe(400);
  });
});
