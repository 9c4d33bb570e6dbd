import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ageSignIns } from '../test/backdate.js';
import { App } from '../test/app.js';
import { auditEventsOf } from '../test/audit-records.js';
import { serverWithOperator } from '../test/operator.js';
import { json } from '../test/json.js';
import { firstPartyRedirect, password } from '../test/running-server.js';
import { afterPassword, authenticator, setupPage } from '../test/second-factors.js';

const given = serverWithOperator();
const newPassword = 'quite another horse';
const daySeconds = 86_400;

let people = 0;
async function person(role: 'member' | 'global_admin' = 'member', name?: string) {
  people += 1;
  const email = `security-${people}@harbour.example`;
  const { user_id } = await given.operator.run('user create', {
    email,
    password,
    role,
    ...(role === 'member' ? { organisation: 'org_harbour' } : {}),
    ...(name === undefined ? {} : { name }),
  });
  return { email, userId: String(user_id) };
}
async function change(browser: FormBrowser, fields: Readonly<Record<string, string>> = {}) {
  const page = await browser.get(`${given.server.url}/account/security`);
  const chosen = { new_password: newPassword, repeated_password: newPassword };
  const shown = await browser.submit(formOf(page, '/security/password'), {
    current_password: password,
    ...chosen,
    ...fields,
  });
  return { page, shown };
}
async function userInfo(token: string) {
  const response = await given.server.fetch(`${given.server.url}/api/auth/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return json(response);
}

describe('a password change', () => {
  const dashboard = () =>
    App.known(given.server, given.server.people.dashboard.client_id, firstPartyRedirect);

  it('ends the offline access of first-party apps, and keeps third-party apps connected unless the box is ticked', async () => {
    const { email } = await person();
    const [own, other] = [await dashboard(), await App.registered(given.server)];
    const ours = await own.signIn('openid offline_access', { email });
    const theirs = await other.signIn('openid offline_access', { email });
    const browser = new FormBrowser(given.server);
    await afterPassword(given.server, email, browser);
    const { shown } = await change(browser);
    expect(shown.text).toContain('all other browsers and of our own apps.');
    await expect(own.refresh(ours.tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    await expect(other.refresh(theirs.tokens.refresh_token ?? '')).resolves.toHaveProperty('access_token');
  });

  it('offers a ticked box to disconnect all apps, with their number', async () => {
    const { email } = await person();
    const other = await App.registered(given.server);
    const { tokens, browser: elsewhere } = await other.signIn('openid offline_access', { email });
    const browser = new FormBrowser(given.server);
    await afterPassword(given.server, email, browser);
    const { page, shown } = await change(browser, { disconnect_apps: 'yes' });
    expect(page.text.replace(/\s+/g, ' ')).toMatch(
      /name="disconnect_apps" value="yes" checked ?\/>.*the 1 connected app/,
    );
    expect(shown.text).toContain('all other apps are disconnected');
    await expect(other.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    expect((await browser.get(`${given.server.url}/account/apps`)).text).toContain('No connected apps.');
    const repeated = await other.authorize('openid', { email, browser: elsewhere });
    expect(repeated.steps).toContain('login');
  });

  it('replaces the session cookie of the browser, and the previous cookie is invalid', async () => {
    const { email } = await person();
    const browser = new FormBrowser(given.server);
    await afterPassword(given.server, email, browser);
    const before = browser.cookieHeader(new URL(given.server.url));
    await change(browser);
    expect(browser.cookieHeader(new URL(given.server.url))).not.toBe(before);
    expect((await browser.get(`${given.server.url}/account`)).url.pathname).toBe('/account');
    const copied = await given.server.fetch(`${given.server.url}/account`, {
      redirect: 'manual',
      headers: { cookie: before, accept: 'text/html' },
    });
    expect([copied.status, copied.headers.get('location')]).toEqual([
      303,
      expect.stringContaining('authorize'),
    ]);
  });

  it.each([
    ['a common password', 'Password1234', 'one of the most common'],
    ['the e-mail address', 'harbour.example', 'e-mail address or a part of it'],
    ['a short one', 'eleven char', 'at least 12 characters'],
  ])('is rejected for %s', async (_, chosen, problem) => {
    const { email } = await person();
    const browser = new FormBrowser(given.server);
    await afterPassword(given.server, email, browser);
    const { shown } = await change(browser, { new_password: chosen, repeated_password: chosen });
    expect(shown.status).toBe(400);
    expect(shown.text).toContain(problem);
    const rejected = given.operator.run('user password', { USER: email, password: chosen });
    await expect(rejected).rejects.toThrow(problem);
  });
});

describe('enabling a second factor', () => {
  it('ends the offline access of first-party apps, which was given with a password alone', async () => {
    const { email } = await person();
    const own = await App.known(given.server, given.server.people.dashboard.client_id, firstPartyRedirect);
    const { tokens, browser } = await own.signIn('openid offline_access', { email });
    const setup = await setupPage(given.server, browser);
    await browser.submit(formOf(setup, '/second-factor'), { code: authenticator(setup).generate() });
    await expect(own.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
  });
});

describe('a browser session', () => {
  it.each([
    ['member', 29 * daySeconds, '/account'],
    ['member', 31 * daySeconds, 'sign in'],
    ['global_admin', 11 * 3600, '/account'],
    ['global_admin', 13 * 3600, 'sign in'],
  ] as const)('of a %s who signed in %i seconds ago leads to %s', async (role, seconds, to) => {
    const { email, userId } = await person(role);
    const browser = new FormBrowser(given.server);
    await afterPassword(given.server, email, browser);
    await ageSignIns(given.server, userId, seconds);
    const shown = await browser.get(`${given.server.url}/account`);
    expect(shown.text.includes('id="password"') ? 'sign in' : shown.url.pathname).toBe(to);
    const own = await App.known(given.server, given.server.people.dashboard.client_id, firstPartyRedirect);
    const silent = await browser.get((await own.request('openid', { prompt: 'none' })).url);
    expect(silent.url.searchParams.get('error')).toBe(to === 'sign in' ? 'login_required' : null);
  });
});

describe('the name of a person', () => {
  it('is in UserInfo with the scope profile, and changes with the account page', async () => {
    const { email } = await person('member', 'Ada Example');
    const app = await App.registered(given.server);
    const { tokens, browser } = await app.signIn('openid profile email', { email });
    expect(await userInfo(tokens.access_token)).toMatchObject({ name: 'Ada Example', email_verified: false });
    const page = await browser.get(`${given.server.url}/account`);
    const saved = await browser.submit(formOf(page, '/account/name'), { name: '  Ada  Lovelace ' });
    expect(saved.text).toContain('Your name has been changed.');
    expect((await userInfo(tokens.access_token)).name).toBe('Ada  Lovelace');
    for (const name of ['\u200b', 'a\u202eb', 'a\tb', 'x'.repeat(201)])
      expect((await browser.submit(formOf(page, '/account/name'), { name })).status).toBe(400);
    await browser.submit(formOf(page, '/account/name'), { name: '' });
    expect(await userInfo(tokens.access_token)).not.toHaveProperty('name');
    expect(await auditEventsOf(given.server, { email, event: 'name_changed' })).toHaveLength(2);
    const metadata = await given.server.fetch(`${given.server.url}/.well-known/openid-configuration`);
    const { claims_supported } = z
      .looseObject({ claims_supported: z.array(z.string()) })
      .parse(await metadata.json());
    expect(claims_supported).toEqual(expect.arrayContaining(['name', 'email', 'email_verified']));
  });
});

describe('user redact', () => {
  it('replaces the personal data, ends all access permanently, and is idempotent', async () => {
    const { email, userId } = await person('member', 'Grace Example');
    const app = await App.registered(given.server);
    const { tokens } = await app.signIn('openid offline_access', { email });
    expect(await given.operator.run('user redact', { USER: email })).toEqual({
      user_id: userId,
      redacted: true,
      tokens_ended: 1,
    });
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    expect((await afterPassword(given.server, email)).status).toBe(401);
    const stored = await given.server.database.rows(
      {
        name: 'test.redacted',
        text: `SELECT to_jsonb(u) AS stored FROM users AS u WHERE id = $1
               UNION ALL SELECT to_jsonb(s) FROM browser_sessions AS s WHERE user_id = $1
               UNION ALL SELECT to_jsonb(c) FROM consents AS c WHERE user_id = $1
               UNION ALL SELECT to_jsonb(n) FROM network_sign_ins AS n WHERE user_id = $1
               UNION ALL SELECT payload FROM oidc_model WHERE account_id = $1::text AND model = 'Session'`,
      },
      [userId],
    );
    expect(JSON.stringify(stored)).not.toMatch(/security-\d+@|Grace|127\.0\.0\.1|argon2/);
    expect(await given.operator.run('user redact', { USER: userId })).toMatchObject({ tokens_ended: 0 });
    await expect(given.operator.run('user enable', { USER: userId })).rejects.toThrow('was redacted');
    await expect(given.operator.run('user password', { USER: userId, password })).rejects.toThrow(
      'was redacted',
    );
    const { events } = await given.operator.run('audit', { user: userId, event: 'user_redacted' });
    expect(events).toHaveLength(1);
  });
});
