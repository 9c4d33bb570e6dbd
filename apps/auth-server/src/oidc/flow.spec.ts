import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { decodeJwt } from 'jose';
import { createClient } from '../registration/create-client.js';
import { App, thirdPartyRedirect } from '../test/app.fixture.js';
import { auditEventsOf, auditRecords } from '../test/audit-records.fixture.js';
import { password } from '../test/users.fixture.js';
import { server, startServer } from '../test/server.fixture.js';

startServer();

describe('the authorization code flow (RFC 6749 §4.1, RFC 7636)', () => {
  it('leads from registration, sign-in and consent to tokens', async () => {
    const app = await App.register(server);
    const { tokens, steps } = await app.signIn('openid profile email offline_access orders:read');
    expect(steps).toEqual(['login', 'consent']);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600 });
    expect(tokens.refresh_token).toEqual(expect.any(String));
    expect(tokens.claims()?.sub).toBe(server.users.harbourOwner.user_id);
  });

  it('returns access_denied with state and iss to the app when the person cancels the sign-in', async () => {
    const app = await App.register(server);
    const { url, state } = await app.request('orders:read');
    const browser = new FormBrowser(server);
    const shown = await browser.submit(formOf(await browser.get(url), '/abort'));
    expect(shown.url.origin + shown.url.pathname).toBe(thirdPartyRedirect);
    expect(Object.fromEntries(shown.url.searchParams)).toMatchObject({
      error: 'access_denied',
      state,
      iss: `${server.url}/api/auth`,
    });
    expect(await auditRecords(server, { clientId: app.clientId, event: 'sign_in_cancelled' })).toEqual([
      { event: 'sign_in_cancelled', email: null, details: {} },
    ]);
    expect(await auditEventsOf(server, { clientId: app.clientId })).not.toContain('consent_refused');
  });

  it('audits a declined consent, with the person who declined it', async () => {
    const app = await App.register(server);
    const { url } = await app.request('orders:read');
    const browser = new FormBrowser(server);
    const email = 'owner@harbour.example';
    const consentPage = await browser.submit(formOf(await browser.get(url), '/login'), { email, password });
    const shown = await browser.submit(formOf(consentPage, '/abort'));
    expect(shown.url.searchParams.get('error')).toBe('access_denied');
    expect(await auditRecords(server, { clientId: app.clientId, event: 'consent_refused' })).toEqual([
      { event: 'consent_refused', email, details: {} },
    ]);
    expect(await auditEventsOf(server, { clientId: app.clientId })).not.toContain('sign_in_cancelled');
  });

  it('accepts an e-mail address in another case', async () => {
    const app = await App.register(server);
    const { tokens } = await app.signIn('orders:read', { email: 'OWNER@Harbour.Example' });
    expect(decodeJwt(tokens.access_token).sub).toBe(server.users.harbourOwner.user_id);
  });
});

describe('consent', () => {
  it('is remembered in another browser, for fewer scopes', async () => {
    const app = await App.register(server);
    await app.signIn('openid orders:read');
    expect((await app.signIn('orders:read')).steps).toEqual(['login']);
  });

  it('is required for a new scope, for prompt=consent, and each time for a native app (RFC 8252 §8.6)', async () => {
    const app = await App.register(server);
    const { browser } = await app.signIn('orders:read');
    expect((await app.signIn('orders:read orders:create', { browser })).steps).toEqual(['consent']);
    expect((await app.signIn('orders:read', { browser })).steps).toEqual([]);
    const prompted = await app.signIn('orders:read', { browser, parameters: { prompt: 'consent' } });
    expect(prompted.steps).toEqual(['consent']);
    const native = await App.register(server, {}, 'http://127.0.0.1/callback');
    expect((await native.signIn('orders:read', { browser })).steps).toEqual(['consent']);
    expect((await native.signIn('orders:read', { browser })).steps).toEqual(['consent']);
  });

  it('lets a person select one of several creators, and requires the choice for each sign-in when several have a consent', async () => {
    const app = await App.register(server);
    const email = 'owner@meridian.example';
    const { meridianFirst: first, meridianSecond: second } = server.creators;
    const one = await app.signIn('orders:read', { email, creator: second.uuid });
    expect(decodeJwt(one.tokens.access_token)).toMatchObject({
      org_id: 'org_meridian',
      creator_id: second.uuid,
    });
    const repeated = await app.signIn('orders:read', { email });
    expect(repeated.steps).toEqual(['login']);
    expect(decodeJwt(repeated.tokens.access_token).creator_id).toBe(second.uuid);
    const other = await app.signIn('orders:read', {
      email,
      creator: first.uuid,
      parameters: { prompt: 'consent' },
    });
    expect(decodeJwt(other.tokens.access_token).creator_id).toBe(first.uuid);
    expect((await app.signIn('orders:read', { email, creator: first.uuid })).steps).toEqual([
      'login',
      'consent',
    ]);
  });

  it('is requested once more when the form has a creator of another organisation', async () => {
    const app = await App.register(server);
    const { shown } = await app.authorize('orders:read', { creator: server.creators.meridianFirst.uuid });
    expect(shown.forms.some(({ action }) => action.endsWith('/consent'))).toBe(true);
  });
});

describe('first-party clients', () => {
  it('need no consent even as native apps, which may use any loopback port', async () => {
    const redirectUri = 'http://127.0.0.1:50000/callback';
    const { client_id } = await createClient(
      server.database,
      {
        name: 'Dashboard on a desk',
        redirectUris: ['http://127.0.0.1:8976/callback'],
        firstParty: true,
        confidential: false,
        resourceServer: false,
      },
      server.secrets,
    );
    const app = await App.ofClient(server, { client_id }, redirectUri);
    const { steps, shown } = await app.authorize('openid');
    expect(steps).toEqual(['login']);
    expect(shown.url.href).toMatch(/^http:\/\/127\.0\.0\.1:50000\/callback\?code=/);
  });

  it('need no consent and get a token for both APIs, for the creator that was registered first', async () => {
    const app = await App.dashboard(server);
    const { tokens, steps } = await app.signIn('openid offline_access', { email: 'owner@meridian.example' });
    expect(steps).toEqual(['login']);
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      aud: ['https://suite.example/store', 'https://suite.example/creator'],
      org_id: 'org_meridian',
      creator_id: server.creators.meridianFirst.uuid,
    });
  });

  it('may name a creator by UUID in any case or by id, but only one that the user acts for', async () => {
    const app = await App.dashboard(server);
    const email = 'owner@meridian.example';
    const { meridianSecond: second, harbour } = server.creators;
    for (const creator of [second.uuid, second.uuid.toUpperCase(), second.id]) {
      const { tokens } = await app.signIn('openid', { email, parameters: { creator } });
      expect(decodeJwt(tokens.access_token).creator_id).toBe(second.uuid);
    }
    const { shown } = await app.authorize('openid', { email, parameters: { creator: harbour.uuid } });
    expect(shown.url.searchParams.get('error')).toBe('invalid_request');
  });

  it('get a role without an organisation for a global admin, and neither for a user without an organisation', async () => {
    const app = await App.dashboard(server);
    const operator = await app.signIn('openid', { email: 'operator@platform.example' });
    expect(decodeJwt(operator.tokens.access_token)).toMatchObject({ org_role: 'global_admin' });
    expect(decodeJwt(operator.tokens.access_token)).not.toHaveProperty('org_id');
    const withoutOrganisation = await app.signIn('openid', { email: 'nobody@nowhere.example' });
    expect(decodeJwt(withoutOrganisation.tokens.access_token)).not.toHaveProperty('org_role');
    expect(decodeJwt(withoutOrganisation.tokens.access_token)).not.toHaveProperty('creator_id');
  });
});
