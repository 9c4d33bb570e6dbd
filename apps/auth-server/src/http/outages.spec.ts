import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { metrics } from '@fulfilment/runtime';
import { eventually, type FlakyProxy, flakyProxy, storeUrl } from '@fulfilment/testing';
import * as client from 'openid-client';
import { App } from '../test/app.fixture.js';
import { json } from '../test/json.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { fetchUserInfo, isDenied } from '../test/token-states.fixture.js';
import { password } from '../test/users.fixture.js';

let postgres: FlakyProxy;
let redis: FlakyProxy;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([
    flakyProxy(storeUrl('TEST_POSTGRES_URL')),
    flakyProxy(storeUrl('TEST_REDIS_URL')),
  ]);
});
startServer({}, () => ({ postgres, redis }));
afterAll(() => Promise.all([postgres.stop(), redis.stop()]));

let app: App;
beforeAll(async () => {
  app = await App.register(server);
});
afterEach(async () => {
  postgres.restore();
  redis.restore();
  await eventually(() => server.redis.client.status === 'ready');
  await eventually(isPostgresReachable);
});

/** Looks up an unknown token, which is 503 while PostgreSQL is unreachable. */
async function isPostgresReachable(): Promise<boolean> {
  const response = await fetchUserInfo('x');
  await response.body?.cancel();
  return response.status !== 503;
}
/**
 * Whether a request took less than the 8 s for which the server tries to find out whether a commit succeeded
 * whose response was lost. After that time it responds 503, although the commit may have succeeded.
 */
const wasInTime = (startedAtMs: number) => performance.now() - startedAtMs < 8_000;
/**
 * More packets than PostgreSQL gets during a refresh or an exchange, so that the loss of the connection after
 * each of these is tested.
 */
const maxPackets = 6;
/**
 * Whether the connection was lost after the first packet, and not after `maxPackets`. Packets of background
 * loops count, too.
 */
const wasLostAsPlanned = (packets: number) =>
  packets === 1 ? postgres.wasSevered() : packets < maxPackets || !postgres.wasSevered();
/** The number of checks that were skipped because Redis was unavailable. */
const failOpenCount = async () => {
  const { values } = (await metrics.getSingleMetric('redis_fail_open_total')?.get()) ?? { values: [] };
  return values.reduce((sum, { value }) => sum + value, 0);
};

describe('while Redis is down', () => {
  it('sign-in, refresh, introspection and revocation work, and a metric counts the skipped checks', async () => {
    const before = await failOpenCount();
    redis.disconnect();
    const { tokens } = await app.signIn('openid offline_access orders:read');
    const next = await app.refresh(tokens.refresh_token ?? '');
    expect(await client.tokenIntrospection(app.configuration, next.access_token)).toMatchObject({
      active: true,
    });
    await client.tokenRevocation(app.configuration, next.access_token);
    expect(await client.tokenIntrospection(app.configuration, next.access_token)).toEqual({ active: false });
    expect(await failOpenCount()).toBeGreaterThan(before);
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
    redis.disconnect();
    await client.tokenRevocation(app.configuration, tokens.refresh_token ?? '');
    redis.restore();
    await eventually(() => isDenied(tokens.access_token));
  });
});

describe('while PostgreSQL is down', () => {
  const form = (fields: Readonly<Record<string, string>>): RequestInit => ({
    method: 'POST',
    body: new URLSearchParams({ client_id: app.clientId, ...fields }),
  });

  it('every endpoint for clients responds 503 temporarily_unavailable with Retry-After, without internal details', async () => {
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

  it('pages have the status 503 and Retry-After, and a sign-in continues when PostgreSQL is back', async () => {
    const { url } = await (await App.register(server)).request('orders:read');
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

describe('when the connection to PostgreSQL is lost in the middle of a refresh', () => {
  it.each(Array.from({ length: maxPackets }, (_, index) => index + 1))(
    'after packet %i to it, the client has a refresh token that still works',
    async (packets) => {
      const refresh = async (refreshToken: string) => {
        const response = await app.post('token', {
          grant_type: 'refresh_token',
          refresh_token: refreshToken,
        });
        return { status: response.status, body: await json(response) };
      };
      const { sentToken, first } = await eventually(async () => {
        const { refresh_token: sentToken = '' } = (await app.signIn('offline_access orders:read')).tokens;
        const startedAtMs = performance.now();
        postgres.severAfter(packets);
        const first = await refresh(sentToken);
        const isUsable = wasInTime(startedAtMs) && wasLostAsPlanned(packets);
        postgres.restore();
        return isUsable ? { sentToken, first } : undefined;
      });
      expect([200, 503]).toContain(first.status);
      if (first.status === 503) expect(first.body).toMatchObject({ error: 'temporarily_unavailable' });
      const newestToken = first.status === 200 ? first.body.refresh_token : sentToken;
      const second = await eventually(async () => {
        const response = await refresh(newestToken);
        return response.status === 503 ? undefined : response;
      });
      expect([packets, second.status]).toEqual([packets, 200]);
    },
  );
});

describe('when the connection to PostgreSQL is lost in the middle of a code exchange', () => {
  it.each(Array.from({ length: maxPackets }, (_, index) => index + 1))(
    'after packet %i to it, the client has valid tokens or a code that still works',
    async (packets) => {
      const exchange = async (form: Readonly<Record<string, string>>) => {
        const response = await app.post('token', form);
        return { status: response.status, body: await json(response) };
      };
      const { exchangeForm, first } = await eventually(async () => {
        const { exchangeForm } = await app.authorize('offline_access orders:read');
        const startedAtMs = performance.now();
        postgres.severAfter(packets);
        const first = await exchange(exchangeForm);
        const isUsable = wasInTime(startedAtMs) && wasLostAsPlanned(packets);
        postgres.restore();
        return isUsable ? { exchangeForm, first } : undefined;
      });
      expect([200, 503]).toContain(first.status);
      const succeeded = await eventually(async () => {
        const response = first.status === 200 ? first : await exchange(exchangeForm);
        return response.status === 503 ? undefined : response;
      });
      expect([packets, succeeded.status]).toEqual([packets, 200]);
      await expect(app.refresh(String(succeeded.body.refresh_token))).resolves.toMatchObject({
        refresh_token: expect.any(String),
      });
    },
  );
});
