import { untilLockWaits } from '@fulfilment/database/testing';
import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { ageSecondFactorSetup, movePasswordChangeAfterSignIns } from '../test/backdate.fixture.js';
import { signInPageField } from '../test/account-pages.fixture.js';
import { App } from '../test/app.fixture.js';
import { auditEventsOf } from '../test/audit-records.fixture.js';
import { newUser, password } from '../test/users.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import {
  submitPassword,
  authenticatorOf,
  nextCode,
  newProtectedUser,
  recoveryCodesOf,
  beginSetup,
} from '../test/second-factors.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServer({ SECOND_FACTOR_FOR_GLOBAL_ADMINS: 'true' });

describe('a second factor (RFC 6238)', () => {
  it('is set up with the password and the first code of the app, and gives ten recovery codes', async () => {
    const { email } = await newUser(server);
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    const begin = await browser.get(`${server.url}/account/security/second-factor`);
    const wrong = await browser.submit(formOf(begin, '/begin'), { current_password: 'wrong' });
    expect(wrong.status).toBe(401);
    // The secret is in a <code> element, which no page has before the password is verified.
    for (const page of [begin, wrong]) expect(page.text).not.toContain('<code>');
    const setup = await beginSetup(server, browser);
    expect(setup.text).toContain('class="qr"');
    const code = authenticatorOf(setup).generate();
    for (const typed of ['000000', 'abc']) {
      const wrongCode = await browser.submit(formOf(setup, '/second-factor'), { code: typed });
      expect(wrongCode.status).toBe(401);
      expect(wrongCode.text).not.toContain('<code>');
    }
    const shown = await browser.submit(formOf(setup, '/second-factor'), { code });
    expect(new Set(recoveryCodesOf(shown)).size).toBe(10);
    expect((await browser.get(`${server.url}/account/security`)).text).toContain('10 recovery codes');
    const confirmed = await browser.get(`${server.url}/account/security/second-factor`);
    expect(confirmed.url.pathname).toBe('/account/security'); // its secret is never shown again
  });

  it('signs out another browser when it is enabled', async () => {
    const { email } = await newUser(server);
    await submitPassword(server, email, new FormBrowser(server));
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    const setup = await beginSetup(server, browser);
    const code = authenticatorOf(setup).generate();
    await browser.submit(formOf(setup, '/second-factor'), { code });
    const left = await server.database.rows(
      testStatement(`SELECT id FROM oidc_model WHERE model = 'Session'
        AND account_id = (SELECT id::text FROM users WHERE email = $1)`),
      [email],
    );
    expect(left).toHaveLength(1);
    expect((await browser.get(`${server.url}/account`)).url.pathname).toBe('/account');
  });

  it('is required after the password, and the person is not signed in before it is verified', async () => {
    const { email, totp } = await newProtectedUser(server);
    const browser = new FormBrowser(server);
    const codePage = await submitPassword(server, email, browser);
    expect(codePage.text).toContain('Enter your code');
    const during = await browser.get(`${server.url}/account/security`);
    expect(during.text).toContain(signInPageField);
    const own = new FormBrowser(server);
    const page = await submitPassword(server, email, own);
    const signedIn = await own.submit(formOf(page, '/second-factor'), { code: nextCode(totp) });
    expect(signedIn.url.pathname).toBe('/account/security');
  });

  it('is not accepted when the password was changed during the sign-in', async () => {
    const { email, totp } = await newProtectedUser(server);
    const browser = new FormBrowser(server);
    const page = await submitPassword(server, email, browser);
    await movePasswordChangeAfterSignIns(server, email);
    const rejected = await browser.submit(formOf(page, '/second-factor'), { code: nextCode(totp) });
    expect(rejected.text).toContain(signInPageField);
  });

  it('accepts a code once when three browsers send it concurrently', async () => {
    const { email, totp } = await newProtectedUser(server);
    const code = nextCode(totp);
    const submissions = await Promise.all(
      [0, 1, 2].map(async () => {
        const browser = new FormBrowser(server);
        const page = await submitPassword(server, email, browser);
        return () => browser.submit(formOf(page, '/second-factor'), { code });
      }),
    );
    const pages = await Promise.all(submissions.map((submit) => submit()));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  it('accepts a recovery code once, even in different spellings', async () => {
    const { email, codes } = await newProtectedUser(server);
    const [first = ''] = codes;
    for (const [typed, status] of [
      [first.toLowerCase().replace('-', ' '), 200],
      [first, 401],
    ] as const) {
      const browser = new FormBrowser(server);
      const page = await submitPassword(server, email, browser);
      expect((await browser.submit(formOf(page, '/second-factor'), { code: typed })).status).toBe(status);
    }
  });

  it('makes prompt=none return login_required while a session has only the password', async () => {
    const { email } = await newUser(server);
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    const dashboard = await App.dashboard(server);
    const authorizeSilently = async () => {
      const { url } = await dashboard.request('openid', { prompt: 'none' });
      return (await browser.get(url)).url.searchParams;
    };
    expect((await authorizeSilently()).get('code')).toEqual(expect.any(String));
    await server.database.run(
      testStatement(`INSERT INTO second_factors (user_id, secret_encrypted, confirmed_at)
        SELECT id, '\\x00', now() FROM users WHERE email = $1`),
      [email],
    );
    expect((await authorizeSilently()).get('error')).toBe('login_required');
  });

  it('has a new secret each time its set-up is opened, and the earlier one is no longer accepted', async () => {
    const browser = new FormBrowser(server);
    await submitPassword(server, (await newUser(server)).email, browser);
    const [seen, used] = [await beginSetup(server, browser), await beginSetup(server, browser)];
    expect(authenticatorOf(seen).secret.base32).not.toBe(authenticatorOf(used).secret.base32);
    const confirm = (page: typeof seen) =>
      browser.submit(formOf(page, '/second-factor'), { code: authenticatorOf(page).generate() });
    expect((await confirm(seen)).status).toBe(401);
    expect(recoveryCodesOf(await confirm(used))).toHaveLength(10);
  });

  it('is removed only with the password and a code, and is then no longer required', async () => {
    const { email, browser, totp } = await newProtectedUser(server);
    const page = await browser.get(`${server.url}/account/security`);
    const form = formOf(page, '/second-factor/remove');
    const code = nextCode(totp);
    for (const fields of [
      { current_password: 'wrong', code },
      { current_password: password, code: '' },
      { current_password: password, code: '123123' },
    ])
      expect((await browser.submit(form, fields)).status).toBe(401);
    const session = browser.cookie('__Host-session@/');
    const off = await browser.submit(form, { current_password: password, code });
    expect(off.text).toContain('The second factor is turned off.');
    expect(browser.cookie('__Host-session@/')).not.toBe(session);
    expect((await submitPassword(server, email)).url.pathname).toBe('/account/security');
  });

  it('is reported as off, without an audit record, when another tab removed it before', async () => {
    const { email, browser, totp } = await newProtectedUser(server);
    const page = await browser.get(`${server.url}/account/security`);
    const fields = { current_password: password, code: nextCode(totp) };
    await browser.submit(formOf(page, '/second-factor/remove'), fields);
    for (const action of ['/second-factor/remove', '/recovery-codes']) {
      const late = await browser.submit(formOf(page, action), fields);
      expect(late.status).toBe(409);
      expect(late.text).toContain('The second factor is already off.');
    }
    expect(await auditEventsOf(server, { email, event: 'second_factor_failed' })).toEqual([]);
  });

  it('replaces its recovery codes, with the password and a code', async () => {
    const { email, browser, totp, codes } = await newProtectedUser(server);
    const page = await browser.get(`${server.url}/account/security`);
    const form = formOf(page, '/recovery-codes');
    expect((await browser.submit(form, { current_password: password })).status).toBe(401);
    const session = browser.cookie('__Host-session@/');
    const shown = await browser.submit(form, { current_password: password, code: nextCode(totp) });
    expect(browser.cookie('__Host-session@/')).not.toBe(session);
    const fresh = recoveryCodesOf(shown);
    expect(fresh).toHaveLength(10);
    expect(fresh.filter((code) => codes.includes(code))).toEqual([]);
    for (const [code = '', status] of [
      [codes[0], 401],
      [fresh[0], 200],
    ] as const) {
      const other = new FormBrowser(server);
      const codePage = await submitPassword(server, email, other);
      expect((await other.submit(formOf(codePage, '/second-factor'), { code })).status).toBe(status);
    }
  });

  it('stores neither the secret nor a recovery code in clear text', async () => {
    const { codes, totp } = await newProtectedUser(server);
    const rows = await server.database.rows(
      testStatement(`SELECT encode(secret_encrypted, 'escape') AS text FROM second_factors
        UNION ALL SELECT encode(code_hash, 'escape') FROM recovery_codes`),
    );
    expect(rows.length).toBeGreaterThan(10); // the secret and its ten codes
    const stored = JSON.stringify(rows);
    const secret = Buffer.from(totp.secret.hex, 'hex').toString('base64');
    for (const text of [...codes, secret, totp.secret.base32]) expect(stored).not.toContain(text);
  });
});

describe('a global admin, where a second factor is required', () => {
  it('sets it up at the next sign-in, and cannot turn it off', async () => {
    const { email } = await newUser(server, { role: 'global_admin' });
    const browser = new FormBrowser(server);
    const setup = await submitPassword(server, email, browser);
    expect(setup.text).toContain('Set up a second factor');
    const form = formOf(setup, '/second-factor/setup');
    expect((await browser.submit(form, { code: '000000' })).status).toBe(401);
    const codes = await browser.submit(form, { code: authenticatorOf(setup).generate() });
    expect(recoveryCodesOf(codes)).toHaveLength(10);
    const account = await browser.submit(formOf(codes, '/second-factor/done'));
    expect(account.url.pathname).toBe('/account/security');
    expect(account.text).toContain('you cannot turn it off');
    const csrf = formOf(account, '/password').hidden['csrf'] ?? '';
    const rejected = await browser.submit(
      { action: '/account/security/second-factor/remove', hidden: { csrf } },
      { current_password: password },
    );
    expect(rejected.status).toBe(403);
    expect((await submitPassword(server, email)).text).toContain('Enter your code');
  });

  it('gets no code for a session with only the password, if the person becomes one during the authorization', async () => {
    const { email } = await newUser(server, {}); // in no organisation
    const browser = new FormBrowser(server);
    await submitPassword(server, email, browser);
    const { url } = await (await App.dashboard(server)).request('openid offline_access');
    const setRole = testStatement('UPDATE users SET global_admin = true WHERE email = $1');
    const { authorizing } = await server.database.transaction(async (tx) => {
      await tx.run(setRole, [email]);
      const authorizing = browser.get(url);
      await Promise.race([authorizing, untilLockWaits(server.database)]); // after the checks of the session
      return { authorizing };
    });
    expect((await authorizing).url.searchParams.get('error')).toBe('invalid_grant');
  });

  it('begins the sign-in again when the second factor was reset before the end of the sign-in', async () => {
    const { email } = await newUser(server, { role: 'global_admin' });
    const browser = new FormBrowser(server);
    const setup = await submitPassword(server, email, browser);
    const code = authenticatorOf(setup).generate();
    const codes = await browser.submit(formOf(setup, '/second-factor/setup'), { code });
    const reset = testStatement(
      'DELETE FROM second_factors WHERE user_id = (SELECT id FROM users WHERE email = $1)',
    );
    await server.database.run(reset, [email]);
    expect((await browser.submit(formOf(codes, '/second-factor/done'))).text).toContain(signInPageField);
  });

  it('gets a new secret when the first code comes after 15 minutes', async () => {
    const { email } = await newUser(server, { role: 'global_admin' });
    const browser = new FormBrowser(server);
    const setup = await submitPassword(server, email, browser);
    await ageSecondFactorSetup(server, email, { minutes: 15 });
    const code = authenticatorOf(setup).generate();
    const expired = await browser.submit(formOf(setup, '/second-factor/setup'), { code });
    expect(expired.status).toBe(401);
    expect(expired.text).toContain('a set-up ends after 15 minutes');
    const codes = await browser.submit(formOf(expired, '/second-factor/setup'), {
      code: authenticatorOf(expired).generate(),
    });
    expect(recoveryCodesOf(codes)).toHaveLength(10);
  });

  it('sees that the second factor is on, without an audit record, when the form of the first code is sent twice', async () => {
    const { email } = await newUser(server, { role: 'global_admin' });
    const browser = new FormBrowser(server);
    const setup = await submitPassword(server, email, browser);
    const fields = { code: authenticatorOf(setup).generate() };
    await browser.submit(formOf(setup, '/second-factor/setup'), fields);
    const repeated = await browser.submit(formOf(setup, '/second-factor/setup'), fields);
    expect(repeated.status).toBe(409);
    expect(repeated.text).toContain('The second factor is already on.');
    expect(await auditEventsOf(server, { email, event: 'second_factor_failed' })).toEqual([]);
    const signedIn = await browser.submit(formOf(repeated, '/second-factor'), {
      code: nextCode(authenticatorOf(setup)),
    });
    expect(signedIn.url.pathname).toBe('/account/security');
  });

  it('is not signed in by skipping the set-up, and can start over', async () => {
    const { email } = await newUser(server, { role: 'global_admin' });
    const browser = new FormBrowser(server);
    const setup = await submitPassword(server, email, browser);
    const { hidden, action } = formOf(setup, '/second-factor/setup');
    const skipped = await browser.submit({ action: action.replace('/setup', '/done'), hidden });
    expect(skipped.text).toContain('Set up a second factor');
    const other = await browser.submit(formOf(setup, '/start-over'));
    expect(other.text).toContain(signInPageField);
  });

  it('starts over when the password was changed before the set-up, so that the old password cannot complete it', async () => {
    const { email } = await newUser(server, { role: 'global_admin' });
    const browser = new FormBrowser(server);
    const setup = await submitPassword(server, email, browser);
    await movePasswordChangeAfterSignIns(server, email);
    const code = authenticatorOf(setup).generate();
    const rejected = await browser.submit(formOf(setup, '/second-factor/setup'), { code });
    expect(rejected.text).toContain(signInPageField);
    expect(rejected.text).not.toContain('class="qr"');
    expect((await browser.get(setup.url.href)).text).toContain(signInPageField);
  });

  it('starts over when the account was disabled before the code', async () => {
    const { email, totp } = await newProtectedUser(server);
    const browser = new FormBrowser(server);
    const codePage = await submitPassword(server, email, browser);
    const disable = testStatement('UPDATE users SET disabled_at = now() WHERE email = $1');
    await server.database.run(disable, [email]);
    const rejected = await browser.submit(formOf(codePage, '/second-factor'), { code: nextCode(totp) });
    expect(rejected.text).toContain(signInPageField);
  });
});
