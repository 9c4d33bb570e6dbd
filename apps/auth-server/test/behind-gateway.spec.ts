import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from '../src/registration/create-client.js';
import { registration, register, thirdPartyRedirect } from './app.js';
import { Browser, formOf } from './browser.js';
import { json } from './json.js';
import { password, runningServer, type RunningServer } from './running-server.js';

const authUrl = 'https://auth.example:8443';
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
let server: RunningServer;
beforeAll(async () => {
  server = await runningServer({ AUTH_URL: authUrl });
});
afterAll(() => server.stop());

const ask = (clientId: string, redirectUri: string, parameters: Record<string, string> = {}) =>
  `/api/auth/oauth2/authorize?${new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid orders:read',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...parameters,
  }).toString()}`;

describe('behind a gateway that ends TLS', () => {
  it('keeps cookies to this host, to TLS, from scripts and from other sites', async () => {
    const { client_id } = await registration(await register(server));
    const response = await fetch(`${server.url}${ask(client_id, thirdPartyRedirect)}`, {
      redirect: 'manual',
    });
    for (const cookie of response.headers.getSetCookie()) {
      expect(cookie).toMatch(/^(__Host-session|__Secure-(interaction|resume))(\.sig)?=/);
      expect(cookie).toMatch(/; secure/i);
      expect(cookie).toMatch(/; httponly/i);
      expect(cookie).toMatch(/; samesite=lax/i);
      expect(cookie).not.toMatch(/; domain/i);
    }
    const browser = new Browser(authUrl, server.url);
    const page = await browser.get(ask(client_id, thirdPartyRedirect));
    const consent = await browser.submit(formOf(page, '/login'), {
      email: 'owner@harbour.example',
      password,
    });
    const back = await browser.submit(formOf(consent, '/consent'));
    expect(back.url.searchParams.get('iss')).toBe(`${authUrl}/api/auth`);
    expect(back.url.searchParams.get('code')).toEqual(expect.any(String));
    expect(browser.cookieNames()).toContain('__Host-session@/');
  });

  it('never asks a native first-party app’s user for consent, on any loopback port', async () => {
    const dashboard = await createClient(
      server.database,
      {
        name: 'Dashboard',
        redirectUris: ['http://127.0.0.1:8976/callback'],
        firstParty: true,
        confidential: false,
      },
      () => server.config.KEY_ENCRYPTION_KEY,
    );
    const browser = new Browser(authUrl, server.url);
    const page = await browser.get(ask(dashboard.client_id, 'http://127.0.0.1:50000/callback'));
    const back = await browser.submit(formOf(page, '/login'), { email: 'owner@harbour.example', password });
    expect(back.url.href).toMatch(/^http:\/\/127\.0\.0\.1:50000\/callback\?code=/);
  });

  it('names the addresses it is known by, and counts clients by the address the gateway saw', async () => {
    const document = await json(
      await fetch(`${server.url}/.well-known/openid-configuration`, {
        headers: { 'x-forwarded-proto': 'http' },
      }),
    );
    expect(document.issuer).toBe(`${authUrl}/api/auth`);
    expect(document.token_endpoint).toBe(`${authUrl}/api/auth/oauth2/token`);
    await fetch(`${server.url}/api/auth/oauth2/token`, {
      method: 'POST',
      headers: { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' },
    });
    expect(await server.redis.client.exists('rate:token:198.51.100.7')).toBe(1);
  });

  it('signs somebody else in only after the one before was signed out', async () => {
    const { client_id } = server.people.dashboard;
    const redirect = 'https://dashboard.example/callback';
    const browser = new Browser(authUrl, server.url);
    const first = await browser.submit(formOf(await browser.get(ask(client_id, redirect)), '/login'), {
      email: 'owner@harbour.example',
      password,
    });
    const firstCode = first.url.searchParams.get('code');
    expect(firstCode).toEqual(expect.any(String));
    const page = await browser.get(ask(client_id, redirect, { prompt: 'login' }));
    const handOver = await browser.submit(formOf(page, '/login'), {
      email: 'owner@meridian.example',
      password,
    });
    const second = await browser.submit(formOf(handOver, '/end-session/confirm'));
    expect(second.url.searchParams.get('code')).toEqual(expect.any(String));
    const left = await server.database.rows({
      name: 'test.codes',
      text: `SELECT account_id FROM oidc_model WHERE model = 'AuthorizationCode' AND account_id = '${server.people.owner.user_id}' AND client_id = '${client_id}'`,
    });
    expect(left).toEqual([]); // the first one's unused code ended with their session
  });
});
