import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { auditRecords } from '../test/audit-records.js';
import { endGuessWindows, deleteNetworkFailures } from '../test/guess-windows.js';
import { server, startServer } from '../test/server.js';
import { newUser } from '../test/users.js';
import { beginSetup, submitPassword, nextCode, newProtectedUser } from '../test/second-factors.js';

startServer({ SIGN_IN_FAILURES: '5/900' }); // 5 failures in 900 s
beforeEach(() => deleteNetworkFailures(server));

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
      ...Array.from({ length: 5 }, () => ({ intended: 'second_factor_added' })),
      expect.objectContaining({ intended: 'second_factor_added', locked: true, count: 1 }),
    ]);
  });
});

describe('the code of a sign-in', () => {
  it('is rejected without verification after five wrong ones, even if it is correct', async () => {
    const { email, totp } = await newProtectedUser(server);
    const guess = async (code: string) => {
      await deleteNetworkFailures(server);
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
