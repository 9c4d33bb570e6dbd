import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { metrics } from '@fulfilment/runtime';
import { eventually, type FlakyProxy, flakyProxy, storeUrl } from '@fulfilment/testing';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { App } from '../test/app.js';
import { json } from '../test/json.js';
import { password, runningServer, type RunningServer } from '../test/running-server.js';

let postgres: FlakyProxy;
let redis: FlakyProxy;
let server: RunningServer;
let app: App;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([
    flakyProxy(storeUrl('TEST_POSTGRES_URL')),
    flakyProxy(storeUrl('TEST_REDIS_URL')),
  ]);
  server = await runningServer({}, { postgres, redis });
  app = await App.registered(server);
});
afterEach(async () => {
  postgres.restore();
  redis.restore();
  await eventually(() => server.redis.client.status === 'ready' || undefined);
  await eventually(async () => (await isRejected('/api/auth/oauth2/userinfo', 503)) || undefined);
});
afterAll(async () => {
  await server.stop();
  await Promise.all([postgres.stop(), redis.stop()]);
});

/** Whether the status of an endpoint differs from the given one. */
async function isRejected(path: string, but: number): Promise<boolean> {
  const response = await server.fetch(`${server.url}${path}`, { headers: { authorization: 'Bearer x' } });
  await response.body?.cancel();
  return response.status !== but;
}
const failOpen = async () => {
  const { values } = (await metrics.getSingleMetric('redis_fail_open_total')?.get()) ?? { values: [] };
  return values.reduce((sum, { value }) => sum + value, 0);
};

describe('while Redis is away', () => {
  it('sign-in, refresh, introspection and revocation work, and a metric counts the failures', async () => {
    const before = await failOpen();
    redis.disconnect();
    const { tokens } = await app.signIn('openid offline_access orders:read');
    const next = await app.refresh(tokens.refresh_token ?? '');
    expect(await client.tokenIntrospection(app.configuration, next.access_token)).toMatchObject({
      active: true,
    });
    await client.tokenRevocation(app.configuration, next.access_token);
    expect(await client.tokenIntrospection(app.configuration, next.access_token)).toEqual({ active: false });
    expect(await failOpen()).toBeGreaterThan(before);
  });

  it('a replay still ends its family (RFC 9700 §4.14.2)', async () => {
    const { tokens } = await app.signIn('offline_access orders:read');
    redis.disconnect();
    const next = await app.refresh(tokens.refresh_token ?? '');
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(app.refresh(next.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('revocations are stored, and published to the APIs as soon as Redis is back', async () => {
    const { tokens } = await app.signIn('offline_access orders:read');
    const { jti } = decodeJwt(tokens.access_token);
    redis.disconnect();
    await client.tokenRevocation(app.configuration, tokens.refresh_token ?? '');
    redis.restore();
    await eventually(async () => {
      const exists = await server.redis.client.exists(`deny:${jti}`).catch(() => 0);
      return exists === 1 || undefined;
    });
  });
});

describe('while PostgreSQL is down', () => {
  const form = (fields: Readonly<Record<string, string>>): RequestInit => ({
    method: 'POST',
    body: new URLSearchParams({ client_id: app.clientId, ...fields }),
  });

  it('every endpoint is 503 temporarily_unavailable with Retry-After, without internal details', async () => {
    const { tokens } = await app.signIn('openid offline_access');
    postgres.disconnect();
    const bearer = { headers: { authorization: `Bearer ${tokens.access_token}` } };
    for (const [path, init] of [
      ['token', form({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' })],
      ['introspect', form({ token: tokens.access_token })],
      ['introspect', form({ token: tokens.refresh_token ?? '' })],
      ['revoke', form({ token: tokens.access_token })],
      ['par', form({ response_type: 'code', redirect_uri: app.redirectUri, scope: 'openid' })],
      ['userinfo', bearer],
      [`register/${app.clientId}`, bearer],
    ] as const) {
      const response = await server.fetch(`${server.url}/api/auth/oauth2/${path}`, init);
      const text = await response.text();
      expect([path, response.status]).toEqual([path, 503]);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(JSON.parse(text)).toMatchObject({ error: 'temporarily_unavailable' });
      expect(text).not.toMatch(/ECONN|postgres|\.js:|\.ts:/i);
    }
    const register = await server.fetch(`${server.url}/api/auth/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [app.redirectUri], token_endpoint_auth_method: 'none' }),
    });
    expect(register.status).toBe(503);
    expect(await json(register)).toMatchObject({ error: 'temporarily_unavailable' });
  });

  it('every page is a 503 page with Retry-After, and continues when PostgreSQL is back', async () => {
    const { url } = await (await App.registered(server)).request('orders:read');
    const browser = new FormBrowser(server);
    const page = await browser.get(url);
    postgres.disconnect();
    const fields = { email: 'owner@harbour.example', password };
    for (const shown of [
      await browser.get(url),
      await browser.get(page.url.href),
      await browser.submit(formOf(page, '/login'), fields),
      await browser.submit(formOf(page, '/abort')),
      await browser.get(`${server.url}/api/auth/oauth2/end-session`),
      await browser.get(`${server.url}/account`),
      await browser.get(`${server.url}/account/security`),
    ]) {
      expect([shown.url.pathname, shown.status]).toEqual([shown.url.pathname, 503]);
      expect(Number(shown.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(shown.headers.get('content-type')).toContain('text/html');
      expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(shown.text).not.toMatch(/ECONN|postgres|\.js:|\.ts:/i);
    }
    postgres.restore();
    const consent = await eventually(async () => {
      const shown = await browser.submit(formOf(page, '/login'), fields);
      return shown.status === 503 ? undefined : shown;
    });
    const back = await browser.submit(formOf(consent, '/consent'));
    expect(back.url.searchParams.get('code')).toEqual(expect.any(String));
  });

  it('metadata and keys are available', async () => {
    postgres.disconnect();
    for (const path of ['/.well-known/openid-configuration', '/api/auth/jwks'])
      expect((await server.fetch(`${server.url}${path}`)).status).toBe(200);
  });
});

describe('when PostgreSQL dies in the middle of a refresh', () => {
  it.each(Array.from({ length: 14 }, (_, index) => index + 1))(
    'after its packet %i, the refresh token that the client has still works',
    async (packets) => {
      const { tokens } = await app.signIn('offline_access orders:read');
      const held = tokens.refresh_token ?? '';
      const attempt = async (refreshToken: string) => {
        const response = await app.post('token', {
          grant_type: 'refresh_token',
          refresh_token: refreshToken,
        });
        return { status: response.status, body: await json(response) };
      };
      postgres.severAfter(packets);
      const first = await attempt(held);
      postgres.restore();
      expect([200, 503]).toContain(first.status);
      if (first.status === 503) expect(first.body).toMatchObject({ error: 'temporarily_unavailable' });
      const having = first.status === 200 ? first.body.refresh_token : held;
      const then = await eventually(async () => {
        const response = await attempt(having);
        return response.status === 503 ? undefined : response;
      });
      expect([packets, then.status]).toEqual([packets, 200]);
    },
  );
});

describe('when PostgreSQL dies in the middle of a code exchange', () => {
  it.each(Array.from({ length: 14 }, (_, index) => index + 1))(
    'after its packet %i, the client has valid tokens or a code that still works',
    async (packets) => {
      const { shown, verifier } = await app.authorize('offline_access orders:read');
      const exchange = async () => {
        const response = await app.post('token', {
          grant_type: 'authorization_code',
          code: shown.url.searchParams.get('code') ?? '',
          redirect_uri: app.redirectUri,
          code_verifier: verifier,
        });
        return { status: response.status, body: await json(response) };
      };
      postgres.severAfter(packets);
      const first = await exchange();
      postgres.restore();
      expect([200, 503]).toContain(first.status);
      const having = await eventually(async () => {
        const response = first.status === 200 ? first : await exchange();
        return response.status === 503 ? undefined : response;
      });
      expect([packets, having.status]).toEqual([packets, 200]);
      await expect(app.refresh(String(having.body.refresh_token))).resolves.toMatchObject({
        refresh_token: expect.any(String),
      });
    },
  );
});
