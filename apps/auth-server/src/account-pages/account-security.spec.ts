import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { ageSecondFactorSetup, ageSignIns } from '../test/backdate.fixture.js';
import { signInPageField } from '../test/account-pages.fixture.js';
import { App } from '../test/app.fixture.js';
import { auditEventsOf } from '../test/audit-records.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { newUser, password } from '../test/users.fixture.js';
import {
  submitPassword,
  authenticatorOf,
  beginSetup,
  newProtectedUser,
  nextCode,
  recoveryCodesOf,
} from '../test/second-factors.fixture.js';

startServer();
const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;

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
    await ageSecondFactorSetup(server, email, { minutes: 15 });
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

  it('starts over when the password was changed since its secret was shown, and the page says why', async () => {
    const { email } = await newUser(server);
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    const setup = await beginSetup(server, browser);
    const security = await browser.get(`${server.url}/account/security`);
    const newPassword = 'quite another horse';
    const fields = {
      current_password: password,
      new_password: newPassword,
      repeated_password: newPassword,
    };
    await browser.submit(formOf(security, '/security/password'), fields);
    const code = authenticatorOf(setup).generate();
    const ended = await browser.submit(formOf(setup, '/second-factor'), { code });
    expect(ended.status).toBe(409);
    expect(ended.text).toContain('a set-up ends after 15 minutes, and when you change your password');
    expect(ended.forms.some(({ action }) => action.endsWith('/begin'))).toBe(true);
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
  // The default limits are 30 days, and 12 hours for global admins.
  it.each([
    ['member', '29 days', '/account', 29 * daySeconds],
    ['member', '31 days', 'sign in', 31 * daySeconds],
    ['global_admin', '11 hours', '/account', 11 * hourSeconds],
    ['global_admin', '13 hours', 'sign in', 13 * hourSeconds],
  ] as const)('of a %s who signed in %s ago leads to %s', async (role, _age, destination, seconds) => {
    const { email, user_id } = await newUser(server, role === 'member' ? undefined : { role });
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    await ageSignIns(server, user_id, { seconds });
    const shown = await browser.get(`${server.url}/account`);
    expect(shown.text.includes(signInPageField) ? 'sign in' : shown.url.pathname).toBe(destination);
    const dashboard = await App.dashboard(server);
    const silent = await browser.get((await dashboard.request('openid', { prompt: 'none' })).url);
    expect(silent.url.searchParams.get('error')).toBe(destination === 'sign in' ? 'login_required' : null);
  });
});
