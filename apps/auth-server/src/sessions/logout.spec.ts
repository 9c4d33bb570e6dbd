import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import * as client from 'openid-client';
import { newUserEmail, openAccountPage } from '../test/account-pages.fixture.js';
import { App, thirdPartyRedirect } from '../test/app.fixture.js';
import { auditEventsOf } from '../test/audit-records.fixture.js';
import { json } from '../test/json.fixture.js';
import { rejectRows } from '../test/reject-rows.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';
import { isDenied } from '../test/token-states.fixture.js';

const postLogoutUri = 'https://app.example/signed-out';
startServer();
let dashboard: App;
let app: App;
beforeAll(async () => {
  dashboard = await App.dashboard(server);
  app = await App.register(server, { post_logout_redirect_uris: [postLogoutUri] });
});

const requestLogout = (browser: FormBrowser, parameters: Readonly<Record<string, string>> = {}) =>
  browser.get(`${server.url}/api/auth/oauth2/end-session?${new URLSearchParams(parameters).toString()}`);
const signOut = async (browser: FormBrowser, parameters: Readonly<Record<string, string>> = {}) =>
  browser.submit(formOf(await requestLogout(browser, parameters), '/end-session/confirm'), { logout: 'yes' });
const isSignedIn = async (browser: FormBrowser) =>
  (await dashboard.authorize('openid', { browser })).steps.length === 0;

/** Marks the session of an app's code as ended, as if it ended before the code was stored. */
const endSessionOfCode = testStatement(
  `UPDATE browser_sessions SET ended_at = now()
   WHERE uid = (SELECT session_uid FROM oidc_model WHERE model = 'AuthorizationCode' AND client_id = $1)`,
);

describe('signing out (OpenID Connect RP-Initiated Logout)', () => {
  it('ends a code that a concurrent request stores after the end of its session', async () => {
    const newApp = await App.register(server);
    const { exchangeForm } = await newApp.authorize('orders:read offline_access');
    expect(await server.database.run(endSessionOfCode, [newApp.clientId])).toBe(1);
    const response = await newApp.post('token', exchangeForm);
    expect([response.status, (await json(response)).error]).toEqual([400, 'invalid_grant']);
  });

  it('ends the tokens of the session at introspection and on the deny list, and keeps offline access', async () => {
    const { tokens: online, browser } = await dashboard.signIn('openid');
    const { tokens: offline } = await dashboard.signIn('openid offline_access', { browser });
    const done = await signOut(browser);
    expect(done.text).toContain('Signed out');
    const { configuration } = await App.ofClient(server, server.clients.resourceServer);
    expect(await client.tokenIntrospection(configuration, online.access_token)).toEqual({ active: false });
    expect(await isDenied(online.access_token)).toBe(true);
    expect(await client.tokenIntrospection(configuration, offline.access_token)).toMatchObject({
      active: true,
    });
    await expect(dashboard.refresh(offline.refresh_token ?? '')).resolves.toHaveProperty('access_token');
    expect((await dashboard.authorize('openid', { browser })).steps).toEqual(['login']);
  });

  it('ends only this browser’s session', async () => {
    const { browser } = await dashboard.signIn('openid');
    const { browser: other, tokens } = await dashboard.signIn('openid');
    await signOut(browser);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await isSignedIn(other)).toBe(true);
    expect(await client.tokenIntrospection(dashboard.configuration, tokens.access_token)).toMatchObject({
      active: true,
    });
  });

  it('changes nothing if it fails, so that it can be repeated', async () => {
    // The browser's session refers only to the newest family of an app.
    const { tokens, browser } = await dashboard.signIn('openid');
    await dashboard.signIn('openid', { browser });
    const form = formOf(await requestLogout(browser), '/end-session/confirm');
    const failure = { table: 'browser_sessions', condition: 'NEW.ended_at IS NOT NULL' };
    await rejectRows(server.database, failure, async () => {
      expect((await browser.submit(form, { logout: 'yes' })).status).toBe(500);
    });
    const done = await browser.submit(form, { logout: 'yes' });
    expect(done.text).toContain('Signed out');
    expect(await isDenied(tokens.access_token)).toBe(true);
  });

  it('is not undone by requests in progress', async () => {
    const { browser } = await app.signIn('openid');
    const { url } = await app.request('openid');
    const page = await browser.get(`${server.url}/api/auth/oauth2/end-session`);
    const inProgress = Array.from({ length: 8 }, () => browser.get(url));
    await browser.submit(formOf(page, '/end-session/confirm'), { logout: 'yes' });
    await Promise.all(inProgress);
    const shown = await browser.get(url);
    expect(shown.forms.map(({ action }) => action)).toContainEqual(expect.stringMatching(/\/login$/));
  });

  it('needs a confirmation of the person, never only a link (§6)', async () => {
    const { browser, tokens } = await dashboard.signIn('openid');
    const page = await requestLogout(browser, { id_token_hint: tokens.id_token ?? '' });
    expect(page.text).toContain('Sign out?');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(await isSignedIn(browser)).toBe(true);
    await browser.submit(formOf(await requestLogout(browser), '/end-session/confirm'));
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('has a link to stay signed in, and is audited only when the person confirms it', async () => {
    const email = await newUserEmail();
    const { browser } = await openAccountPage(email, '/account');
    const page = await requestLogout(browser);
    expect(page.text).toContain('<a class="button quiet" href="/account">Stay signed in</a>');
    await browser.submit(formOf(page, '/end-session/confirm')); // without the field `logout`
    expect(await auditEventsOf(server, { email })).not.toContain('signed_out');
    await signOut(browser);
    expect(await auditEventsOf(server, { email })).toContain('signed_out');
  });

  it('shows that the page has expired when its form is sent twice', async () => {
    const { browser } = await dashboard.signIn('openid');
    const form = formOf(await requestLogout(browser), '/end-session/confirm');
    await browser.submit(form, { logout: 'yes' });
    const repeated = await browser.submit(form, { logout: 'yes' });
    expect(repeated.status).toBe(400);
    expect(repeated.text).toContain('This page has expired');
  });

  it('is rejected with a guessed form token (CSRF)', async () => {
    const { browser } = await dashboard.signIn('openid');
    const form = formOf(await requestLogout(browser), '/end-session/confirm');
    const forged = await browser.submit({ ...form, hidden: { xsrf: 'guessed' } }, { logout: 'yes' });
    expect(forged.status).toBe(400);
    expect(await isSignedIn(browser)).toBe(true);
  });
});

describe('the sign-out of a browser that is not signed in', () => {
  it('ends at once, with our own page without a script', async () => {
    const withoutClient = { post_logout_redirect_uri: postLogoutUri };
    for (const parameters of [undefined, withoutClient]) {
      const shown = await requestLogout(new FormBrowser(server), parameters);
      expect(shown.status).toBe(200);
      expect(shown.text).toContain('Signed out');
      expect(shown.text).not.toContain('<script');
      expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  it('stores a session for half an hour only, since anyone can request it', async () => {
    await requestLogout(new FormBrowser(server), { state: 'x'.repeat(6_000) });
    const longLived = testStatement(
      `SELECT 1 FROM oidc_model WHERE model = 'Session' AND account_id IS NULL AND expires_at > now() + interval '31 minutes'`,
    );
    expect(await server.database.rows(longLived)).toEqual([]);
  });

  it('redirects to the client’s registered URI, with the state', async () => {
    const parameters = { client_id: app.clientId, post_logout_redirect_uri: postLogoutUri };
    const back = await requestLogout(new FormBrowser(server), { ...parameters, state: 'a&b' });
    expect(back.url.href).toBe(`${postLogoutUri}?state=a%26b`);
    const withoutState = await requestLogout(new FormBrowser(server), parameters);
    expect(withoutState.url.href).toBe(postLogoutUri);
  });

  it('never redirects to a URI that is not registered', async () => {
    const parameters = { client_id: app.clientId, post_logout_redirect_uri: 'https://evil.example/' };
    const shown = await requestLogout(new FormBrowser(server), parameters);
    expect(shown.status).toBe(400);
    expect(shown.url.origin).toBe(server.url);
  });
});

describe('after signing out (§3)', () => {
  it('redirects to the client’s registered URI, with the state', async () => {
    const { browser, tokens } = await app.signIn('openid');
    const back = await signOut(browser, {
      id_token_hint: tokens.id_token ?? '',
      post_logout_redirect_uri: postLogoutUri,
      state: 'the-state',
    });
    expect(back.url.href).toBe(`${postLogoutUri}?state=the-state`);
  });

  it('accepts client_id in place of a hint', async () => {
    const { browser } = await app.signIn('openid');
    const back = await signOut(browser, { client_id: app.clientId, post_logout_redirect_uri: postLogoutUri });
    expect(back.url.href).toBe(postLogoutUri);
  });

  it.each([
    ['that is not registered', { post_logout_redirect_uri: 'https://evil.example/' }],
    ['with a longer path', { post_logout_redirect_uri: `${postLogoutUri}/more` }],
    ['that is registered only as redirect URI', { post_logout_redirect_uri: thirdPartyRedirect }],
  ])('never redirects to a URI %s', async (_, parameters) => {
    const { browser } = await app.signIn('openid');
    const shown = await requestLogout(browser, { client_id: app.clientId, ...parameters });
    expect(shown.status).toBe(400);
    expect(shown.url.origin).toBe(server.url);
    expect(shown.forms).toEqual([]);
  });

  it('shows our own page when no client is named', async () => {
    const { browser } = await app.signIn('openid');
    const shown = await signOut(browser, { post_logout_redirect_uri: postLogoutUri });
    expect(shown.url.origin).toBe(server.url);
    expect(shown.text).toContain('Signed out');
  });

  it('rejects a hint that is forged, or of another client', async () => {
    const { browser, tokens } = await app.signIn('openid');
    const [header, payload] = (tokens.id_token ?? '').split('.');
    const forged = { id_token_hint: `${header}.${payload}.${'x'.repeat(86)}` }; // the length of a signature
    const foreign = { id_token_hint: tokens.id_token ?? '', client_id: dashboard.clientId };
    for (const parameters of [forged, foreign]) {
      const shown = await requestLogout(browser, { post_logout_redirect_uri: postLogoutUri, ...parameters });
      expect(shown.status).toBe(400);
    }
  });
});
