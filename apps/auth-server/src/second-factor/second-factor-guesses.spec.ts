import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { auditRecords } from '../test/audit-records.fixture.js';
import { endGuessWindows, resetNetworkFailures } from '../test/guess-windows.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { newUser, password } from '../test/users.fixture.js';
import {
  authenticatorOf,
  beginSetup,
  submitPassword,
  nextCode,
  newProtectedUser,
} from '../test/second-factors.fixture.js';

startServer({ SIGN_IN_FAILURES: '5/900', SECOND_FACTOR_FOR_GLOBAL_ADMINS: 'true' }); // 5 failures in 900 s
beforeEach(() => resetNetworkFailures(server));

describe('a wrong password when a second factor is set up or changed', () => {
  it('is audited once at each of set-up, renewal and removal', async () => {
    const wrong = { current_password: 'wrong', code: '123123' };
    const { email: unprotected } = await newUser(server);
    const browser = new FormBrowser(server);
    await submitPassword(server, unprotected, browser);
    const setup = await browser.get(`${server.url}/account/security/second-factor`);
    await browser.submit(formOf(setup, '/second-factor/begin'), wrong);
    const { email, browser: own } = await newProtectedUser(server);
    const page = await own.get(`${server.url}/account/security`);
    await own.submit(formOf(page, '/recovery-codes'), wrong);
    await own.submit(formOf(page, '/second-factor/remove'), wrong);
    const failuresOf = async (user: string) => {
      const records = await auditRecords(server, { email: user, event: 'password_confirmation_failed' });
      return records.map(({ details }) => details);
    };
    expect(await failuresOf(unprotected)).toEqual([{ intended: 'second_factor_added', locked: false }]);
    expect(await failuresOf(email)).toEqual([
      { intended: 'recovery_codes_made', locked: false },
      { intended: 'second_factor_removed', locked: false },
    ]);
  });

  it('is locked after too many failures, and audited as locked', async () => {
    const { email, browser } = await newProtectedUser(server);
    const page = await browser.get(`${server.url}/account/security`);
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1)
      statuses.push((await browser.submit(formOf(page, '/remove'), { current_password: 'wrong' })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    await endGuessWindows(server);
    const records = await auditRecords(server, { email, event: 'password_confirmation_failed' });
    expect(records.map(({ details }) => details['locked'])).toEqual([
      false,
      false,
      false,
      false,
      false,
      true,
    ]);
  });
});

describe('a wrong first code of a set-up', () => {
  it('is audited, even when it is locked, and does not count as a guess at the password', async () => {
    const { email } = await newUser(server);
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    const setup = await beginSetup(server, browser);
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1)
      statuses.push((await browser.submit(formOf(setup, '/second-factor'), { code: 'abc' })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await beginSetup(server, browser)).text).toContain('class="qr"');
    await endGuessWindows(server);
    const records = await auditRecords(server, { email, event: 'second_factor_failed' });
    expect(records.map(({ details }) => details)).toEqual([
      ...Array.from({ length: 5 }, () => ({ intended: 'second_factor_added', locked: false })),
      expect.objectContaining({ intended: 'second_factor_added', locked: true, count: 1 }),
    ]);
  });
});

describe('a code that is sent too late to be verified', () => {
  /** More than the failures that the limit allows. */
  const repetitions = 6;
  const statusesOf = async (send: () => Promise<{ readonly status: number }>) => {
    const statuses = new Set<number>();
    for (let count = 0; count < repetitions; count += 1) statuses.add((await send()).status);
    return [...statuses];
  };

  it('does not count as a wrong guess when its set-up is already confirmed', async () => {
    const { browser, totp, setup } = await newProtectedUser(server);
    const repeat = () => browser.submit(formOf(setup, '/second-factor'), { code: totp.generate() });
    expect(await statusesOf(repeat)).toEqual([409]);
    const security = await browser.get(`${server.url}/account/security`);
    const fields = { current_password: password, code: nextCode(totp) };
    expect((await browser.submit(formOf(security, '/second-factor/remove'), fields)).status).toBe(200);
  });

  it('does not count as a wrong guess when the second factor was removed in another tab', async () => {
    const { browser, totp } = await newProtectedUser(server);
    const security = await browser.get(`${server.url}/account/security`);
    const fields = { current_password: password, code: nextCode(totp) };
    await browser.submit(formOf(security, '/second-factor/remove'), fields);
    const repeat = () => browser.submit(formOf(security, '/recovery-codes'), fields);
    expect(await statusesOf(repeat)).toEqual([409]);
    const setup = await beginSetup(server, browser);
    const code = authenticatorOf(setup).generate();
    expect((await browser.submit(formOf(setup, '/second-factor'), { code })).status).toBe(200);
  });

  it('does not count as a wrong guess when the set-up at a sign-in is already confirmed', async () => {
    const { email } = await newUser(server, { role: 'global_admin' });
    const browser = new FormBrowser(server);
    const setup = await submitPassword(server, email, browser);
    const form = formOf(setup, '/second-factor/setup');
    const code = authenticatorOf(setup).generate();
    await browser.submit(form, { code });
    expect(await statusesOf(() => browser.submit(form, { code }))).toEqual([409]);
    const other = new FormBrowser(server);
    const page = await submitPassword(server, email, other);
    const fields = { code: nextCode(authenticatorOf(setup)) };
    expect((await other.submit(formOf(page, '/second-factor'), fields)).status).toBe(200);
  });
});

describe('the code of a sign-in', () => {
  it('is rejected without verification after five wrong ones, even if it is correct', async () => {
    const { email, totp } = await newProtectedUser(server);
    const guess = async (code: string) => {
      await resetNetworkFailures(server);
      const browser = new FormBrowser(server);
      const page = await submitPassword(server, email, browser);
      return browser.submit(formOf(page, '/second-factor'), { code });
    };
    const statuses: number[] = [];
    for (let count = 0; count < 5; count += 1) statuses.push((await guess('123123')).status);
    const locked = await guess(nextCode(totp));
    expect([...statuses, locked.status]).toEqual([401, 401, 401, 401, 401, 429]);
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
