import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { flakyProxy, type FlakyProxy, storeUrl } from '@fulfilment/testing';
import { App } from '../test/app.js';
import { auditEventsOf } from '../test/audit-records.js';
import { deleteNetworkFailures } from '../test/guess-windows.js';
import { makeUser } from '../test/make-user.js';
import { password, runningServer, type RunningServer } from '../test/running-server.js';
import { afterPassword, nextCode, protectedPerson } from '../test/second-factors.js';

const allowed = 4;
let server: RunningServer;
let redis: FlakyProxy;
let app: App;
beforeAll(async () => {
  redis = await flakyProxy(storeUrl('TEST_REDIS_URL'));
  server = await runningServer({ SIGN_IN_FAILURES: `${allowed}/900` }, { redis });
  app = await App.registered(server);
});
afterAll(async () => {
  await server.stop();
  await redis.stop();
});

let people = 0;
async function person(): Promise<string> {
  people += 1;
  const email = `limits-${people}@harbour.example`;
  await makeUser(server.database, { email, password, organisation: 'org_harbour', role: 'member' });
  return email;
}
async function attempt(email: string, typed: string, browser = new FormBrowser(server)): Promise<number> {
  await deleteNetworkFailures(server);
  const { url } = await app.request('orders:read', { prompt: 'login' });
  return (await browser.submit(formOf(await browser.get(url), '/login'), { email, password: typed })).status;
}
/** Failed guesses, each from another network. */
async function attempts(emails: readonly string[]): Promise<number[]> {
  const statuses = [];
  for (const email of emails) statuses.push(await attempt(email, 'wrong'));
  return statuses;
}
const locked = [...Array.from({ length: allowed }, () => 401), 429, 429];

describe('spellings of one e-mail address', () => {
  it.each([
    ['an account', 'limits-spelling-iki@harbour.example'],
    ['nobody', 'limits-nobody-iki@harbour.example'],
  ])('of %s share one limit: U+0130 and the Kelvin sign give no further guesses', async (whose, email) => {
    if (whose === 'an account')
      await makeUser(server.database, { email, password, organisation: 'org_harbour', role: 'member' });
    const [turkish, kelvin] = [email.replaceAll('i', '\u0130'), email.replaceAll('k', '\u212a')];
    const spellings = [email, turkish, kelvin, email.toUpperCase(), turkish, email];
    expect(await attempts(spellings)).toEqual(locked);
  });
});

describe('a browser that signed in before', () => {
  it('signs in while others keep the account locked, and has no more guesses than they have', async () => {
    const email = await person();
    const own = new FormBrowser(server);
    expect(await attempt(email, password, own)).toBe(200);
    expect(await attempts(Array.from({ length: allowed + 2 }, () => email))).toEqual(locked);
    expect(await attempt(email, password)).toBe(429);
    expect(await attempt(email, password, own)).toBe(200);
    for (let count = 0; count < allowed; count += 1) expect(await attempt(email, 'wrong', own)).toBe(401);
    expect(await attempt(email, password, own)).toBe(429);
  });

  it('is not recognised for another account, nor after the password was changed', async () => {
    const [email, other] = [await person(), await person()];
    const own = new FormBrowser(server);
    await attempt(email, password, own);
    await attempts(Array.from({ length: allowed }, () => other));
    expect(await attempt(other, password, own)).toBe(429);
    await attempts(Array.from({ length: allowed }, () => email));
    await server.database.run(
      {
        name: 'test.same-password-other-hash',
        text: `UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = $2) WHERE email = $1`,
      },
      [email, other],
    );
    expect(await attempt(email, password, own)).toBe(429);
  });

  it('has a cookie that is HttpOnly, SameSite and Secure, and that holds several accounts', async () => {
    const [one, two] = [await person(), await person()];
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
    const cookie = response.headers.getSetCookie().find((line) => line.startsWith('__Host-device='));
    expect(cookie).toMatch(
      /^__Host-device=[\w-]{22}\.[\w-]{43}; Max-Age=\d+; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/,
    );
    const shared = new FormBrowser(server);
    for (const email of [one, two]) await attempt(email, password, shared);
    for (const email of [one, two]) await attempts(Array.from({ length: allowed }, () => email));
    for (const email of [one, two]) expect(await attempt(email, password, shared)).toBe(200);
  });
});

describe('an attack on the sign-in of a signed-in user', () => {
  it('does not keep the owner from changing the password', async () => {
    const email = await person();
    const own = new FormBrowser(server);
    await afterPassword(server, email, own);
    await attempts(Array.from({ length: allowed + 1 }, () => email));
    const page = await own.get(`${server.url}/account/security`);
    const fields = { new_password: 'quite another horse', repeated_password: 'quite another horse' };
    const shown = await own.submit(formOf(page, '/password'), { ...fields, current_password: password });
    expect(shown.text).toContain('Your password has been changed.');
  });
});

describe('consecutive wrong codes of a second factor', () => {
  it('lock the app at 100 (NIST SP 800-63B §3.2.2): a correct code is rejected until a recovery code is used', async () => {
    const { email, totp, codes } = await protectedPerson(server);
    await server.database.run(
      {
        name: 'test.wrong-codes',
        text: `UPDATE second_factors SET wrong_codes = 99 WHERE user_id = (SELECT id FROM users WHERE email = $1)`,
      },
      [email],
    );
    const enter = async (code: string) => {
      await deleteNetworkFailures(server);
      const browser = new FormBrowser(server);
      return browser.submit(formOf(await afterPassword(server, email, browser), '/second-factor'), { code });
    };
    const last = await enter('123123');
    expect(last.status).toBe(401);
    expect(last.text).toContain('Enter a recovery code');
    expect((await enter(nextCode(totp))).status).toBe(401);
    expect(await auditEventsOf(server, { email, event: 'second_factor_locked' })).toHaveLength(1);
    expect((await enter(codes[0] ?? '')).url.pathname).toBe('/account/security');
    expect((await enter(nextCode(totp))).url.pathname).toBe('/account/security');
  });
});

describe('while Redis is down', () => {
  it('guesses at passwords and codes stay limited', async () => {
    const { email: protectedEmail } = await protectedPerson(server);
    const email = await person();
    redis.sever();
    try {
      expect(await attempts(Array.from({ length: allowed + 2 }, () => email))).toEqual(locked);
      const statuses = [];
      for (let count = 0; count < allowed + 1; count += 1) {
        await deleteNetworkFailures(server);
        const browser = new FormBrowser(server);
        const page = await afterPassword(server, protectedEmail, browser);
        statuses.push((await browser.submit(formOf(page, '/second-factor'), { code: '123123' })).status);
      }
      expect(statuses).toEqual([401, 401, 401, 401, 429]);
    } finally {
      redis.restore();
    }
  });
});
