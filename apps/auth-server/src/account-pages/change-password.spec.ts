import { startWhileLocked, untilLockWaits } from '@fulfilment/database/testing';
import { type FormBrowser, formOf, type Page } from '@fulfilment/testing/form-browser';
import { setPasswordAndEndAccess } from '../accounts/replace-password.js';
import { newUserEmail, openAccountPage, signInPageField } from '../test/account-pages.fixture.js';
import { App } from '../test/app.fixture.js';
import { auditEventsOf, auditRecords } from '../test/audit-records.fixture.js';
import { ageSignIns, movePasswordChangeAfterSignIns } from '../test/backdate.fixture.js';
import { runCommand, startServerWithOperator } from '../test/operator.fixture.js';
import { server } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';
import { newUser, password } from '../test/users.fixture.js';

startServerWithOperator();

const newPassword = 'quite another horse';
const lockUser = testStatement('SELECT FROM users WHERE email = $1 FOR UPDATE');
const shareUser = testStatement('SELECT FROM users WHERE email = $1 FOR SHARE');
const lockNetworks = testStatement('SELECT FROM network_sign_ins WHERE user_id = $1 FOR UPDATE');

const submitChange = (browser: FormBrowser, page: Page, fields: Readonly<Record<string, string>> = {}) =>
  browser.submit(formOf(page, '/security/password'), {
    current_password: password,
    new_password: newPassword,
    repeated_password: newPassword,
    ...fields,
  });

describe('the password', () => {
  it('is changed by the person, which signs out another browser', async () => {
    const email = await newUserEmail();
    const { browser: otherBrowser } = await openAccountPage(email, '/account');
    const { browser, shown } = await openAccountPage(email, '/account/security');
    const done = await submitChange(browser, shown);
    expect(done.text).toContain('Your password has been changed.');
    const signInPage = await otherBrowser.get(`${server.url}/account`);
    expect(signInPage.text).toContain(signInPageField);
    const withOldPassword = await otherBrowser.submit(formOf(signInPage, '/login'), { email, password });
    expect(withOldPassword.status).toBe(401);
    const fields = { email, password: newPassword };
    const withNewPassword = await otherBrowser.submit(formOf(withOldPassword, '/login'), fields);
    expect(withNewPassword.url.pathname).toBe('/account');
    expect(await auditEventsOf(server, { email })).toContain('password_changed');
  });

  it.each([
    ['with a wrong current password', { current_password: 'wrong' }, 401],
    ['to one that was repeated differently', { repeated_password: 'something else' }, 400],
    ['to the same one', { new_password: password, repeated_password: password }, 400],
    [
      'to one of 1025 characters',
      { new_password: 'x'.repeat(1025), repeated_password: 'x'.repeat(1025) },
      400,
    ],
  ])('is not changed %s', async (_, fields, status) => {
    const email = await newUserEmail();
    const { browser, shown } = await openAccountPage(email, '/account/security');
    expect((await submitChange(browser, shown, fields)).status).toBe(status);
    expect((await openAccountPage(email, '/account')).shown.url.pathname).toBe('/account');
  });

  it('may have 1024 characters of four bytes, and browsers do not shorten it: its fields have no maxlength', async () => {
    const email = await newUserEmail();
    const { browser, shown } = await openAccountPage(email, '/account/security');
    expect(shown.text).not.toMatch(/type="password"[^>]*maxlength/);
    // All different: a password must contain at least two different letters.
    const ideographs = (first: number) =>
      Array.from({ length: 1024 }, (_, index) => String.fromCodePoint(first + index)).join('');
    const [longest, next] = [ideographs(0x20000), ideographs(0x21000)];
    const changed = await submitChange(browser, shown, { new_password: longest, repeated_password: longest });
    expect(changed.text).toContain('Your password has been changed.');
    const fields = { current_password: longest, new_password: next, repeated_password: next };
    expect((await submitChange(browser, changed, fields)).text).toContain('Your password has been changed.');
  });

  it('has one audit record for an attempt to change it with a wrong current password', async () => {
    const email = await newUserEmail();
    const { browser, shown } = await openAccountPage(email, '/account/security');
    await submitChange(browser, shown, { current_password: 'wrong' });
    const records = await auditRecords(server, { email });
    expect(records.filter(({ event }) => event.startsWith('password_'))).toEqual([
      {
        event: 'password_change_failed',
        email,
        details: { intended: 'password_changed', locked: false },
      },
    ]);
  });

  it('is required again in a browser whose sign-in is older than the password', async () => {
    const email = await newUserEmail();
    const { browser } = await openAccountPage(email, '/account');
    await movePasswordChangeAfterSignIns(server, email);
    expect((await browser.get(`${server.url}/account`)).text).toContain(signInPageField);
  });

  it('is not required again in the browser in which it was changed, not even by apps', async () => {
    const email = await newUserEmail();
    const app = await App.register(server);
    const { browser, shown } = await openAccountPage(email, '/account/security');
    await submitChange(browser, shown);
    expect((await app.authorize('openid', { email, browser })).steps).toEqual(['consent']);
  });

  it('is not changed by a browser that another browser has signed out', async () => {
    const email = await newUserEmail();
    const { browser, shown } = await openAccountPage(email, '/account/security');
    const other = await openAccountPage(email, '/account/browsers');
    await other.browser.submit(formOf(other.shown, '/browsers/sign-out'));
    const rejected = await submitChange(browser, shown);
    expect(rejected.text).toContain(signInPageField);
    expect((await openAccountPage(email, '/account')).shown.url.pathname).toBe('/account');
  });
});

describe('a password change', () => {
  it('does not overwrite a password that the operator sets concurrently', async () => {
    const email = await newUserEmail();
    const { browser, shown } = await openAccountPage(email, '/account/security');
    const [, changed] = await startWhileLocked(
      server.database,
      (tx) => tx.run(lockUser, [email]),
      () => runCommand('user password', { USER: email, password: 'known to the owner only' }),
      () => submitChange(browser, shown), // waits after it has verified the current password
    );
    expect(changed.text).toContain(signInPageField);
    expect((await openAccountPage(email, '/account', 'known to the owner only')).shown.url.pathname).toBe(
      '/account',
    );
    expect((await auditEventsOf(server, { email })).filter((event) => event === 'password_changed')).toEqual([
      'password_changed',
    ]);
  });

  it('ends the offline access of first-party apps, and keeps third-party apps connected without disconnect_apps', async () => {
    const email = await newUserEmail();
    const [dashboard, thirdParty] = [await App.dashboard(server), await App.register(server)];
    const { tokens: dashboardTokens } = await dashboard.signIn('openid offline_access', { email });
    const { tokens: thirdPartyTokens } = await thirdParty.signIn('openid offline_access', { email });
    const { browser, shown } = await openAccountPage(email, '/account/security');
    expect((await submitChange(browser, shown)).text).toContain('all other browsers and of our own apps.');
    await expect(dashboard.refresh(dashboardTokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    await expect(thirdParty.refresh(thirdPartyTokens.refresh_token ?? '')).resolves.toHaveProperty(
      'access_token',
    );
  });

  it('disconnects all apps if the box is ticked; the page ticks it by default and shows the number of apps', async () => {
    const email = await newUserEmail();
    const other = await App.register(server);
    const { tokens, browser: otherBrowser } = await other.signIn('openid offline_access', { email });
    const { browser, shown } = await openAccountPage(email, '/account/security');
    expect(shown.text.replace(/\s+/g, ' ')).toMatch(
      /name="disconnect_apps" value="yes" checked ?\/>.*the 1 connected app/,
    );
    const done = await submitChange(browser, shown, { disconnect_apps: 'yes' });
    expect(done.text).toContain('all other apps are disconnected');
    await expect(other.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    expect((await browser.get(`${server.url}/account/apps`)).text).toContain('No connected apps.');
    const repeated = await other.authorize('openid', { email, browser: otherBrowser });
    expect(repeated.steps).toContain('login');
  });

  it('is awaited by a sign-in with the old password, which is then rejected', async () => {
    const { email, user_id: userId } = await newUser(server);
    const [{ shown }] = await startWhileLocked(
      server.database,
      (tx) => setPasswordAndEndAccess(tx, userId, 'a hash'),
      () => openAccountPage(email, '/account'),
    );
    expect(shown.status).toBe(401);
  });

  it('ends a sign-in that has verified the old password and is in progress', async () => {
    const { email, user_id: userId } = await newUser(server);
    await openAccountPage(email, '/account'); // stores the network that is locked
    await ageSignIns(server, userId, { seconds: 60 }); // times of sign-ins are in whole seconds
    const app = await App.dashboard(server);
    const { signIn } = await server.database.transaction(async (passwordChange) => {
      const started = await server.database.transaction(async (networkLock) => {
        await networkLock.run(lockNetworks, [userId]);
        const signIn = app.authorize('openid offline_access', { email });
        // The sign-in has verified the password. Before that, it may wait briefly for its counts of guesses.
        await untilLockWaits(server.database, { query: 'INSERT INTO network_sign_ins%' });
        await setPasswordAndEndAccess(passwordChange, userId, 'a hash');
        return { signIn }; // in an object, because a returned promise would be awaited
      });
      // Without the lock of the network, the sign-in ends, or waits for the commit of the password.
      await Promise.race([started.signIn, untilLockWaits(server.database)]);
      return started;
    });
    const { shown } = await signIn;
    expect(shown.url.searchParams.get('error')).toBe('invalid_grant');
  });

  it('gets a later time than a concurrent sign-in with the old password, for whose end it waits', async () => {
    const { email } = await newUser(server);
    const { browser, shown } = await openAccountPage(email, '/account/security');
    const { changing, waitedUntil } = await server.database.transaction(async (tx) => {
      await tx.run(shareUser, [email]); // as a sign-in does
      const changing = submitChange(browser, shown);
      await untilLockWaits(server.database);
      const row = await tx.row<{ time: Date }>(testStatement('SELECT clock_timestamp() AS time'));
      return { changing, waitedUntil: row?.time };
    });
    await changing;
    const readChange = testStatement(
      'SELECT password_changed_at >= $2 AS "isLater" FROM users WHERE email = $1',
    );
    expect(await server.database.row(readChange, [email, waitedUntil])).toEqual({ isLater: true });
  });

  it('counts as a sign-in at the next full second of the clock of PostgreSQL', async () => {
    const email = await newUserEmail();
    const { browser, shown } = await openAccountPage(email, '/account/security');
    await submitChange(browser, shown);
    const compareTimes = testStatement(`
      SELECT (payload ->> 'loginTs')::bigint = ceil(extract(epoch FROM password_changed_at)) AS "isNextSecond"
      FROM users JOIN oidc_model ON model = 'Session' AND account_id = users.id::text WHERE email = $1`);
    expect(await server.database.row(compareTimes, [email])).toEqual({ isNextSecond: true });
  });

  it('replaces the session cookie of the browser, and the previous cookie is invalid', async () => {
    const email = await newUserEmail();
    const { browser, shown } = await openAccountPage(email, '/account/security');
    const before = browser.cookieHeader(new URL(server.url));
    await submitChange(browser, shown);
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
    const email = await newUserEmail();
    const { browser, shown } = await openAccountPage(email, '/account/security');
    const page = await submitChange(browser, shown, { new_password: chosen, repeated_password: chosen });
    expect(page.status).toBe(400);
    expect(page.text).toContain(problem);
    const rejected = runCommand('user password', { USER: email, password: chosen });
    await expect(rejected).rejects.toThrow(problem);
  });
});
