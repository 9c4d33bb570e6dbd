import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { ageSignIns } from '../test/backdate.fixture.js';
import { App } from '../test/app.fixture.js';
import { password } from '../test/users.fixture.js';
import { server, startServer } from '../test/server.fixture.js';

startServer();
let app: App;
beforeAll(async () => {
  app = await App.dashboard(server);
});

const requiresPassword = async (url: string, browser: FormBrowser) =>
  (await browser.get(url)).forms.some(({ action }) => action.endsWith('/login'));

describe('an authentication request (OpenID Connect Core §3.1.2.1)', () => {
  it('gets its state, the issuer and the code in the response (RFC 6749 §4.1.2, RFC 9207 §2)', async () => {
    const { shown, state } = await app.authorize('openid');
    expect(Object.fromEntries(shown.url.searchParams)).toEqual({
      code: expect.any(String),
      state,
      iss: `${server.url}/api/auth`,
    });
  });

  it('gets its nonce in an ID token that expires after an hour (§3.1.3.6)', async () => {
    const { shown, verifier, state } = await app.authorize('openid', { parameters: { nonce: 'the-nonce' } });
    const tokens = await client.authorizationCodeGrant(app.configuration, shown.url, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: 'the-nonce',
    });
    expect(tokens.claims()).toMatchObject({
      iss: `${server.url}/api/auth`,
      sub: server.users.harbourOwner.user_id,
      aud: app.clientId,
      nonce: 'the-nonce',
    });
    const { iat, exp } = tokens.claims() ?? {};
    expect(Number(exp) - Number(iat)).toBe(3600);
  });

  it('gets no ID token without the scope openid (§3.1.2.1)', async () => {
    const { tokens } = await app.signIn('orders:read');
    expect(tokens.id_token).toBeUndefined();
  });
});

describe('prompt (OpenID Connect Core §3.1.2.1)', () => {
  it('none shows no page: it returns a code, login_required without a session, or consent_required without consent', async () => {
    const { browser } = await app.signIn('openid');
    const silent = await app.signIn('openid', { browser, parameters: { prompt: 'none' } });
    expect(silent.steps).toEqual([]);
    const { shown, state } = await app.authorize('openid', { parameters: { prompt: 'none' } });
    expect(Object.fromEntries(shown.url.searchParams)).toMatchObject({
      error: 'login_required',
      state,
      iss: `${server.url}/api/auth`,
    });
    const thirdParty = await App.register(server);
    const withoutConsent = await thirdParty.authorize('orders:read', {
      browser,
      parameters: { prompt: 'none' },
    });
    expect(withoutConsent.shown.url.searchParams.get('error')).toBe('consent_required');
  });

  it('none with another value is rejected with invalid_request', async () => {
    const { shown } = await app.authorize('openid', { parameters: { prompt: 'none login' } });
    expect(shown.url.searchParams.get('error')).toBe('invalid_request');
  });

  it('login requires the password, and sets a new auth_time', async () => {
    const { browser } = await app.signIn('openid');
    await ageSignIns(server, server.users.harbourOwner.user_id, { seconds: 1000 });
    const repeated = await app.signIn('openid', { browser, parameters: { prompt: 'login' } });
    expect(repeated.steps).toEqual(['login']);
    expect(Date.now() / 1000 - Number(repeated.tokens.claims()?.auth_time)).toBeLessThan(60);
  });

  it('login signs the first person out before another person gets a code', async () => {
    const { browser, shown, exchangeForm } = await app.authorize('openid');
    expect(shown.url.searchParams.has('code')).toBe(true);
    const { url } = await app.request('openid', { prompt: 'login' });
    const signOutPage = await browser.submit(formOf(await browser.get(url), '/login'), {
      email: 'owner@meridian.example',
      password,
    });
    expect(signOutPage.status).toBe(200);
    expect(signOutPage.text).toContain('Another account is signed in to this browser.');
    expect(signOutPage.text).not.toContain('<script');
    const { origin: appOrigin } = new URL(app.redirectUri);
    expect(signOutPage.headers.get('content-security-policy')).toContain(`form-action 'self' ${appOrigin};`);
    const second = await browser.submit(formOf(signOutPage, '/end-session/confirm'));
    expect(second.url.searchParams.get('code')).toEqual(expect.any(String));
    const exchanged = await app.post('token', exchangeForm);
    // The unused code of the first person ended with the session.
    expect(await exchanged.json()).toMatchObject({ error: 'invalid_grant' });
  });

  it('is rejected with invalid_request when its value is unknown', async () => {
    const { shown } = await app.authorize('openid', { parameters: { prompt: 'dance' } });
    expect(shown.url.searchParams.get('error')).toBe('invalid_request');
  });
});

describe('max_age (OpenID Connect Core §3.1.2.1)', () => {
  it('requires a new sign-in when the last is older, and returns auth_time', async () => {
    const { browser } = await app.signIn('openid');
    const { url } = await app.request('openid', { max_age: '600' });
    await ageSignIns(server, server.users.harbourOwner.user_id, { seconds: 500 });
    expect(await requiresPassword(url, browser)).toBe(false);
    await ageSignIns(server, server.users.harbourOwner.user_id, { seconds: 500 });
    const repeated = await app.signIn('openid', { browser, parameters: { max_age: '600' } });
    expect(repeated.steps).toEqual(['login']);
    const claims = decodeJwt(repeated.tokens.id_token ?? '');
    expect(Math.abs(Date.now() / 1000 - Number(claims['auth_time']))).toBeLessThan(60);
  });

  it('returns the time of the last sign-in as auth_time when none is required', async () => {
    const { browser } = await app.signIn('openid');
    await ageSignIns(server, server.users.harbourOwner.user_id, { seconds: 500 });
    const { tokens, steps } = await app.signIn('openid', { browser, parameters: { max_age: '600' } });
    expect(steps).toEqual([]);
    const age = Date.now() / 1000 - Number(decodeJwt(tokens.id_token ?? '')['auth_time']);
    expect(age).toBeGreaterThan(499);
  });

  it('0 requires a sign-in even if the last was two seconds ago, like prompt=login', async () => {
    const { browser } = await app.signIn('openid');
    await ageSignIns(server, server.users.harbourOwner.user_id, { seconds: 2 });
    const { steps } = await app.signIn('openid', { browser, parameters: { max_age: '0' } });
    expect(steps).toEqual(['login']);
  });

  it('leads to login_required instead of a page with prompt=none', async () => {
    const { browser } = await app.signIn('openid');
    await ageSignIns(server, server.users.harbourOwner.user_id, { seconds: 1000 });
    const { shown } = await app.authorize('openid', {
      browser,
      parameters: { max_age: '600', prompt: 'none' },
    });
    expect(shown.url.searchParams.get('error')).toBe('login_required');
  });

  it.each(['-1', 'soon', '1.5'])('%s is rejected with invalid_request', async (max_age) => {
    const { shown } = await app.authorize('openid', { parameters: { max_age } });
    expect(shown.url.searchParams.get('error')).toBe('invalid_request');
  });
});

describe('id_token_hint', () => {
  it('of another user requires a new sign-in, or returns login_required', async () => {
    const { tokens } = await app.signIn('openid', { email: 'owner@meridian.example' });
    const { browser } = await app.signIn('openid');
    const hint = { id_token_hint: tokens.id_token ?? '' };
    const { url } = await app.request('openid', hint);
    expect(await requiresPassword(url, browser)).toBe(true);
    const { shown } = await app.authorize('openid', { browser, parameters: { ...hint, prompt: 'none' } });
    expect(shown.url.searchParams.get('error')).toBe('login_required');
  });
});
