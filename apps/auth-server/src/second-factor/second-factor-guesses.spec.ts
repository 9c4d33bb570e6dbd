import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { auditRecords } from '../test/audit-records.js';
import { endGuessWindows, deleteNetworkFailures } from '../test/guess-windows.js';
import { runningServer, type RunningServer } from '../test/running-server.js';
import { afterPassword, nextCode, person, protectedPerson } from '../test/second-factors.js';

let server: RunningServer;
beforeAll(async () => {
  server = await runningServer({ SIGN_IN_FAILURES: '5/900' });
});
afterAll(() => server.stop());
// These tests are about the account's limit; the network's limit would lock the password page first.
const deleteAddressFailures = () => deleteNetworkFailures(server);
beforeEach(deleteAddressFailures);

describe('a wrong password when the second factor is changed', () => {
  it('is rejected at set-up, renewal and removal, and audited once each', async () => {
    const wrong = { current_password: 'wrong', code: '123123' };
    const stranger = await person(server);
    const browser = new FormBrowser(server);
    await afterPassword(server, stranger, browser);
    const setup = await browser.get(`${server.url}/account/security/second-factor`);
    await browser.submit(formOf(setup, '/second-factor/begin'), wrong);
    const { email, browser: own } = await protectedPerson(server);
    const page = await own.get(`${server.url}/account/security`);
    await own.submit(formOf(page, '/recovery-codes'), wrong);
    await own.submit(formOf(page, '/second-factor/remove'), wrong);
    const intended = async (email: string) =>
      (await auditRecords(server, { email, event: 'password_confirmation_failed' })).map(
        ({ details }) => details,
      );
    expect(await intended(stranger)).toEqual([{ intended: 'second_factor_added', locked: false }]);
    expect(await intended(email)).toEqual([
      { intended: 'recovery_codes_made', locked: false },
      { intended: 'second_factor_removed', locked: false },
    ]);
  });

  it('is locked after too many failures, and audited as locked', async () => {
    const { email, browser } = await protectedPerson(server);
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

describe('guessing codes', () => {
  it('is locked after too many failures, and the correct password gives no further guesses', async () => {
    const { email, totp } = await protectedPerson(server);
    const guess = async (code: string) => {
      await deleteAddressFailures();
      const browser = new FormBrowser(server);
      const page = await afterPassword(server, email, browser);
      return browser.submit(formOf(page, '/second-factor'), { code });
    };
    const statuses: number[] = [];
    for (let count = 0; count < 5; count += 1) statuses.push((await guess('123123')).status);
    const locked = await guess(nextCode(totp));
    expect([...statuses, locked.status]).toEqual([401, 401, 401, 401, 401, 429]);
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
