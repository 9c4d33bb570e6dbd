import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { describe, expect, it } from '@jest/globals';
import { ageSecondFactorSetup, ageSignIns } from '../test/backdate.js';
import { App } from '../test/app.js';
import { auditEventsOf } from '../test/audit-records.js';
import { runCommand, startServerWithOperator } from '../test/operator.js';
import { server } from '../test/server.js';
import { newUser, password } from '../test/users.js';
import {
  submitPassword,
  authenticatorOf,
  beginSetup,
  newProtectedUser,
  nextCode,
  recoveryCodesOf,
} from '../test/second-factors.js';

startServerWithOperator();
const newPassword = 'quite another horse';
const daySeconds = 86_400;

const harbourMember = { organisation: 'org_harbour', role: 'member' } as const;
/** Submits the form for a new password. */
async function changePassword(browser: FormBrowser, fields: Readonly<Record<string, string>> = {}) {
  const page = await browser.get(`${server.url}/account/security`);
  const shown = await browser.submit(formOf(page, '/security/password'), {
    current_password: password,
    new_password: newPassword,
    repeated_password: newPassword,
    ...fields,
  });
  return { page, shown };
}

describe('a password change', () => {
  it('ends the offline access of first-party apps, and keeps third-party apps connected if the box is not ticked', async () => {
    const { email } = await newUser(server);
    const [dashboard, thirdParty] = [await App.dashboard(server), await App.register(server)];
    const { tokens: dashboardTokens } = await dashboard.signIn('openid offline_access', { email });
    const { tokens: thirdPartyTokens } = await thirdParty.signIn('openid offline_access', { email });
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    const { shown } = await changePassword(browser);
    expect(shown.text).toContain('all other browsers and of our own apps.');
    await expect(dashboard.refresh(dashboardTokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    await expect(thirdParty.refresh(thirdPartyTokens.refresh_token ?? '')).resolves.toHaveProperty(
      'access_token',
    );
  });

  it('disconnects all apps if the box is ticked; the page ticks it by default and shows the number of apps', async () => {
    const { email } = await newUser(server);
    const other = await App.register(server);
    const { tokens, browser: otherBrowser } = await other.signIn('openid offline_access', { email });
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    const { page, shown } = await changePassword(browser, { disconnect_apps: 'yes' });
    expect(page.text.replace(/\s+/g, ' ')).toMatch(
      /name="disconnect_apps" value="yes" checked ?\/>.*the 1 connected app/,
    );
    expect(shown.text).toContain('all other apps are disconnected');
    await expect(other.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    expect((await browser.get(`${server.url}/account/apps`)).text).toContain('No connected apps.');
    const repeated = await other.authorize('openid', { email, browser: otherBrowser });
    expect(repeated.steps).toContain('login');
  });

  it('replaces the session cookie of the browser, and the previous cookie is invalid', async () => {
    const { email } = await newUser(server);
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    const before = browser.cookieHeader(new URL(server.url));
    await changePassword(browser);
    expect(browser.cookieHeader(new URL(server.url))).not.toBe(before);
    expect((await browser.get(`${server.url}/account`)).url.pathname).toBe('/account');
    const copied = await server.fetch(`${server.url}/account`, {
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
    ['a part of the e-mail address', 'harbour.example', 'e-mail address or a part of it'],
    ['a short password', 'eleven char', 'at least 12 characters'],
  ])('to %s is rejected on the page and by the operator command', async (_, chosen, problem) => {
    const { email } = await newUser(server);
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    const { shown } = await changePassword(browser, { new_password: chosen, repeated_password: chosen });
    expect(shown.status).toBe(400);
    expect(shown.text).toContain(problem);
    const rejected = runCommand('user password', { USER: email, password: chosen });
    await expect(rejected).rejects.toThrow(problem);
  });
});

describe('enabling a second factor', () => {
  it('ends the offline access of first-party apps, which was given with a password alone', async () => {
    const { email } = await newUser(server);
    const dashboard = await App.dashboard(server);
    const { tokens, browser } = await dashboard.signIn('openid offline_access', { email });
    const setup = await beginSetup(server, browser);
    await browser.submit(formOf(setup, '/second-factor'), { code: authenticatorOf(setup).generate() });
    await expect(dashboard.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('starts over with the password when the first code comes after 15 minutes', async () => {
    const { email } = await newUser(server);
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    const setup = await beginSetup(server, browser);
    await ageSecondFactorSetup(server, email, 15);
    const code = authenticatorOf(setup).generate();
    const expired = await browser.submit(formOf(setup, '/second-factor'), { code });
    expect(expired.status).toBe(409);
    expect(expired.text).toContain('a set-up ends after 15 minutes');
    const repeated = await browser.submit(formOf(expired, '/begin'), { current_password: password });
    const confirmed = await browser.submit(formOf(repeated, '/second-factor'), {
      code: authenticatorOf(repeated).generate(),
    });
    expect(recoveryCodesOf(confirmed)).toHaveLength(10);
    expect(await auditEventsOf(server, { email, event: 'second_factor_failed' })).toEqual([]);
  });

  it('leads to new recovery codes when the form of the first code is sent once more', async () => {
    const { email, browser, totp, setup } = await newProtectedUser(server);
    const repeated = await browser.submit(formOf(setup, '/second-factor'), { code: totp.generate() });
    expect(repeated.status).toBe(409);
    expect(repeated.text).toContain('The second factor is already on.');
    const renewed = await browser.submit(formOf(repeated, '/recovery-codes'), {
      current_password: password,
      code: nextCode(totp),
    });
    expect(recoveryCodesOf(renewed)).toHaveLength(10);
    expect(await auditEventsOf(server, { email, event: 'second_factor_failed' })).toEqual([]);
  });
});

describe('a browser session', () => {
  it.each([
    ['member', 29 * daySeconds, '/account'],
    ['member', 31 * daySeconds, 'sign in'],
    ['global_admin', 11 * 3600, '/account'],
    ['global_admin', 13 * 3600, 'sign in'],
  ] as const)('of a %s who signed in %i seconds ago shows: %s', async (role, seconds, destination) => {
    const { email, user_id } = await newUser(server, role === 'member' ? harbourMember : { role });
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    await ageSignIns(server, user_id, seconds);
    const shown = await browser.get(`${server.url}/account`);
    expect(shown.text.includes('id="password"') ? 'sign in' : shown.url.pathname).toBe(destination);
    const dashboard = await App.dashboard(server);
    const silent = await browser.get((await dashboard.request('openid', { prompt: 'none' })).url);
    expect(silent.url.searchParams.get('error')).toBe(destination === 'sign in' ? 'login_required' : null);
  });
});
