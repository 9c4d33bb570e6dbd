import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { flakyProxy, type FlakyProxy, storeUrl } from '@fulfilment/testing';
import { newUserEmail } from '../../test/account-pages.fixture.js';
import { App } from '../../test/app.fixture.js';
import { resetNetworkFailures } from '../../test/guess-windows.fixture.js';
import { makeUser, password } from '../../test/users.fixture.js';
import { server, startServer } from '../../test/server.fixture.js';
import { submitPassword, nextCode, newProtectedUser } from '../../test/second-factors.fixture.js';
import { testStatement } from '../../test/test-statement.fixture.js';

const allowed = 4;
let redis: FlakyProxy;
beforeAll(async () => {
  redis = await flakyProxy(storeUrl('TEST_REDIS_URL'));
});
startServer({ SIGN_IN_FAILURES: `${allowed}/900` }, () => ({ redis }));
afterAll(() => redis.stop());

let app: App;
beforeAll(async () => {
  app = await App.register(server);
});

/** Submits the sign-in form, without a limit for the network. Returns the status. */
async function attempt(email: string, typed: string, browser = new FormBrowser(server)): Promise<number> {
  await resetNetworkFailures(server);
  const { url } = await app.request('orders:read', { prompt: 'login' });
  return (await browser.submit(formOf(await browser.get(url), '/login'), { email, password: typed })).status;
}
/** Submits a wrong password for each e-mail address. Returns the statuses. */
async function failedAttempts(emails: readonly string[]): Promise<number[]> {
  const statuses = [];
  for (const email of emails) statuses.push(await attempt(email, 'wrong'));
  return statuses;
}
const statusesUntilLocked = [...Array.from({ length: allowed }, () => 401), 429, 429];

const originsOfLocks = testStatement(
  `SELECT ip IS NOT NULL AS "hasOrigin" FROM audit_log JOIN users ON users.id = user_id
   WHERE event = 'second_factor_locked' AND email = $1`,
);

describe('spellings of one e-mail address', () => {
  it.each([
    ['an account', 'limits-spelling-iki@harbour.example'],
    ['no account', 'limits-nobody-iki@harbour.example'],
  ])('of %s share one limit: U+0130 and the Kelvin sign give no further guesses', async (owner, email) => {
    if (owner === 'an account')
      await makeUser(server.database, { email, password, organisation: 'org_harbour', role: 'member' });
    const [turkish, kelvin] = [email.replaceAll('i', '\u0130'), email.replaceAll('k', '\u212a')];
    const spellings = [email, turkish, kelvin, email.toUpperCase(), turkish, email];
    expect(await failedAttempts(spellings)).toEqual(statusesUntilLocked);
  });
});

describe('a browser that signed in before', () => {
  it('signs in while others keep the account locked, and has no more guesses than they have', async () => {
    const email = await newUserEmail();
    const own = new FormBrowser(server);
    expect(await attempt(email, password, own)).toBe(200);
    expect(await failedAttempts(Array.from({ length: allowed + 2 }, () => email))).toEqual(
      statusesUntilLocked,
    );
    expect(await attempt(email, password)).toBe(429);
    expect(await attempt(email, password, own)).toBe(200);
    for (let count = 0; count < allowed; count += 1) expect(await attempt(email, 'wrong', own)).toBe(401);
    expect(await attempt(email, password, own)).toBe(429);
  });

  it('is not recognised for another account, nor after the password was changed', async () => {
    const [email, other] = [await newUserEmail(), await newUserEmail()];
    const own = new FormBrowser(server);
    await attempt(email, password, own);
    await failedAttempts(Array.from({ length: allowed }, () => other));
    expect(await attempt(other, password, own)).toBe(429);
    await failedAttempts(Array.from({ length: allowed }, () => email));
    await server.database.run(
      testStatement(
        `UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = $2) WHERE email = $1`,
      ),
      [email, other], // the same password with another salt
    );
    expect(await attempt(email, password, own)).toBe(429);
  });

  it('has a device cookie that is HttpOnly, SameSite and Secure, and that contains several accounts', async () => {
    const [one, two] = [await newUserEmail(), await newUserEmail()];
    const { url } = await app.request('orders:read');
    const browser = new FormBrowser(server);
    const page = await browser.get(url);
    const form = formOf(page, '/login');
    const response = await server.fetch(new URL(form.action, server.url), {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ ...form.hidden, email: one, password }),
      headers: { cookie: browser.cookieHeader(page.url), origin: server.url },
    });
    const cookie = response.headers.getSetCookie().find((header) => header.startsWith('__Host-device='));
    expect(cookie).toMatch(
      /^__Host-device=[\w-]{22}\.[\w-]{43}; Max-Age=\d+; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/,
    );
    const shared = new FormBrowser(server);
    for (const email of [one, two]) await attempt(email, password, shared);
    for (const email of [one, two]) await failedAttempts(Array.from({ length: allowed }, () => email));
    for (const email of [one, two]) expect(await attempt(email, password, shared)).toBe(200);
  });
});

describe('an attack on the sign-in of a signed-in user', () => {
  it('does not keep the owner from changing the password', async () => {
    const email = await newUserEmail();
    const own = new FormBrowser(server);
    await submitPassword(server, email, own);
    await failedAttempts(Array.from({ length: allowed + 1 }, () => email));
    const page = await own.get(`${server.url}/account/security`);
    const fields = { new_password: 'quite another horse', repeated_password: 'quite another horse' };
    const shown = await own.submit(formOf(page, '/password'), { ...fields, current_password: password });
    expect(shown.text).toContain('Your password has been changed.');
  });
});

describe('consecutive wrong codes of a second factor', () => {
  it('lock the authenticator app after 100 (NIST SP 800-63B-4 §3.2.2): even a correct code is rejected until a recovery code is used', async () => {
    const { email, totp, codes } = await newProtectedUser(server);
    await server.database.run(
      testStatement(
        `UPDATE second_factors SET wrong_codes = 99 WHERE user_id = (SELECT id FROM users WHERE email = $1)`,
      ),
      [email],
    );
    const enter = async (code: string) => {
      await resetNetworkFailures(server);
      const browser = new FormBrowser(server);
      return browser.submit(formOf(await submitPassword(server, email, browser), '/second-factor'), { code });
    };
    const last = await enter('123123');
    expect(last.status).toBe(401);
    expect(last.text).toContain('Enter a recovery code');
    expect((await enter(nextCode(totp))).status).toBe(401);
    expect(await server.database.rows(originsOfLocks, [email])).toEqual([{ hasOrigin: true }]);
    expect((await enter(codes[0] ?? '')).url.pathname).toBe('/account/security');
    expect((await enter(nextCode(totp))).url.pathname).toBe('/account/security');
  });
});

describe('while Redis is down', () => {
  it('guesses at passwords and codes stay limited', async () => {
    const { email: protectedEmail } = await newProtectedUser(server);
    const email = await newUserEmail();
    redis.disconnect();
    try {
      expect(await failedAttempts(Array.from({ length: allowed + 2 }, () => email))).toEqual(
        statusesUntilLocked,
      );
      const statuses = [];
      for (let count = 0; count < allowed + 1; count += 1) {
        await resetNetworkFailures(server);
        const browser = new FormBrowser(server);
        const page = await submitPassword(server, protectedEmail, browser);
        statuses.push((await browser.submit(formOf(page, '/second-factor'), { code: '123123' })).status);
      }
      expect(statuses).toEqual([401, 401, 401, 401, 429]);
    } finally {
      redis.restore();
    }
  });
});
