import { FormBrowser, formOf, type Page } from '@fulfilment/testing/form-browser';
import { describe, expect, it } from '@jest/globals';
import { newUserEmail, openAccountPage } from '../test/account-pages.js';
import { App } from '../test/app.js';
import { auditEventsOf, auditRecords } from '../test/audit-records.js';
import { movePasswordChangeAfterSignIns } from '../test/backdate.js';
import { server, startServer } from '../test/server.js';
import { password } from '../test/users.js';

startServer();

const newPassword = 'quite another horse';

describe('the password', () => {
  const change = (browser: FormBrowser, page: Page, fields: Record<string, string> = {}) =>
    browser.submit(formOf(page, '/security/password'), {
      current_password: password,
      new_password: newPassword,
      repeated_password: newPassword,
      ...fields,
    });

  it('is changed by the person, which signs out another browser', async () => {
    const email = await newUserEmail();
    const { browser: otherBrowser } = await openAccountPage(email, '/account');
    const { browser, shown } = await openAccountPage(email, '/account/security');
    const done = await change(browser, shown);
    expect(done.text).toContain('Your password has been changed.');
    const signInPage = await otherBrowser.get(`${server.url}/account`);
    expect(signInPage.text).toContain('id="password"');
    const withOldPassword = await otherBrowser.submit(formOf(signInPage, '/login'), { email, password });
    expect(withOldPassword.status).toBe(401);
    const fields = { email, password: newPassword };
    const withNewPassword = await otherBrowser.submit(formOf(withOldPassword, '/login'), fields);
    expect(withNewPassword.url.pathname).toBe('/account');
    expect(await auditEventsOf(server, { email })).toContain('password_changed');
  });

  it.each([
    ['with a wrong current password', { current_password: 'wrong' }, 401],
    ['to one that is too short', { new_password: 'short', repeated_password: 'short' }, 400],
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
    expect((await change(browser, shown, fields)).status).toBe(status);
    expect((await openAccountPage(email, '/account')).shown.url.pathname).toBe('/account');
  });

  it('is not changed with a wrong current password, which is audited once', async () => {
    const email = await newUserEmail();
    const { browser, shown } = await openAccountPage(email, '/account/security');
    await change(browser, shown, { current_password: 'wrong' });
    const records = await auditRecords(server, { email });
    expect(records.filter(({ event }) => event.startsWith('password_'))).toEqual([
      {
        event: 'password_change_failed',
        email,
        details: { intended: 'password_changed', locked: false },
      },
    ]);
  });

  it('is required again in a browser that signed in before a change in the database', async () => {
    const email = await newUserEmail();
    const browser = new FormBrowser(server);
    const page = await browser.get(`${server.url}/account`);
    const signedIn = await browser.submit(formOf(page, '/login'), { email, password });
    expect(signedIn.url.pathname).toBe('/account');
    await movePasswordChangeAfterSignIns(server, email);
    expect((await browser.get(`${server.url}/account`)).text).toContain('id="password"');
  });

  it('is not required again in the browser in which it was changed, not even by apps', async () => {
    const email = await newUserEmail();
    const app = await App.register(server);
    const { browser, shown } = await openAccountPage(email, '/account/security');
    await change(browser, shown);
    expect((await app.authorize('openid', { email, browser })).steps).toEqual(['consent']);
  });

  it('is not changed by a browser that another browser has signed out', async () => {
    const email = await newUserEmail();
    const { browser, shown } = await openAccountPage(email, '/account/security');
    const other = await openAccountPage(email, '/account/browsers');
    await other.browser.submit(formOf(other.shown, '/browsers/sign-out'));
    const rejected = await change(browser, shown);
    expect(rejected.text).toContain('id="password"');
    expect((await openAccountPage(email, '/account')).shown.url.pathname).toBe('/account');
  });
});
