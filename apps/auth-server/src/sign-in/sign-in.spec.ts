import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { eventually } from '@fulfilment/testing';
import { App } from '../test/app.fixture.js';
import { auditRecords } from '../test/audit-records.fixture.js';
import { endGuessWindows, resetNetworkFailures } from '../test/guess-windows.fixture.js';
import { newUser, password } from '../test/users.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServer({ SIGN_IN_FAILURES: '4/900' });
let app: App;
beforeEach(async () => {
  app = await App.register(server);
});

const openSignInPage = async () => {
  await resetNetworkFailures(server);
  const browser = new FormBrowser(server);
  const { url } = await app.request('orders:read');
  return { browser, page: await browser.get(url) };
};

/** Replaces the parts of a page that differ between sign-ins. */
function withoutVariableParts(text: string, email: string): string {
  return text
    .replaceAll(email, 'EMAIL')
    .replace(/interaction\/[\w-]+/g, 'interaction/UID')
    .replace(/name="csrf" value="[^"]*"/g, 'csrf');
}

describe('the sign-in page', () => {
  it('cannot be framed, runs no script, and allows form redirects only to the app', async () => {
    const { page } = await openSignInPage();
    expect(page.headers.get('content-security-policy')).toMatch(
      /default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' https:\/\/app\.example; frame-ancestors 'none'; base-uri 'none'/,
    );
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('access-control-allow-origin')).toBeNull();
    expect(page.text).not.toContain('<script');
  });

  it('gives the session of a browser a new id at each sign-in, which prevents session fixation', async () => {
    const otherApp = await App.register(server);
    const browser = new FormBrowser(server);
    const sessionAfterSignIn = async () => {
      await resetNetworkFailures(server);
      await otherApp.authorize('orders:read', { browser, parameters: { prompt: 'login' } });
      return browser.cookie('__Host-session@/');
    };
    const before = await sessionAfterSignIn();
    expect(before).toEqual(expect.any(String));
    expect(await sessionAfterSignIn()).not.toBe(before);
  });

  it('is valid for 30 minutes, and the browser is signed in for 14 days', async () => {
    const { user_id: userId, email } = await newUser(server);
    await app.signIn('orders:read', { email });
    const { url } = await app.request('orders:read', { prompt: 'login' });
    await new FormBrowser(server).get(url);
    const lifetimes = await server.database.rows(
      testStatement(`SELECT model, round(extract(epoch FROM expires_at - created_at) / 60)::int AS minutes
        FROM oidc_model WHERE (model = 'Session' AND account_id = $1)
          OR (model = 'Interaction' AND payload #>> '{params,client_id}' = $2) ORDER BY model`),
      [userId, app.clientId],
    );
    expect(lifetimes).toEqual([
      { model: 'Interaction', minutes: 30 },
      { model: 'Session', minutes: 14 * 24 * 60 },
    ]);
  });

  it('fills in login_hint, as text', async () => {
    const { url } = await app.request('orders:read', { login_hint: '"><script>alert(1)</script>' });
    const page = await new FormBrowser(server).get(url);
    expect(page.text).toContain('value="&quot;&gt;&lt;script&gt;');
    expect(page.text).not.toContain('<script');
  });

  it('shows the same page with 401 for a wrong password and for an unknown name', async () => {
    const responses: string[] = [];
    for (const email of ['owner@harbour.example', 'nobody@harbour.example']) {
      const { browser, page } = await openSignInPage();
      const shown = await browser.submit(formOf(page, '/login'), { email, password: 'wrong' });
      expect(shown.status).toBe(401);
      responses.push(withoutVariableParts(shown.text, email));
      const repeated = await browser.submit(formOf(shown, '/login'), {
        email: 'owner@harbour.example',
        password,
      });
      expect(repeated.forms.some(({ action }) => action.endsWith('/consent'))).toBe(true);
    }
    expect(responses[0]).toBe(responses[1]);
  });

  it('locks the account, even for the correct password, after too many failures', async () => {
    await resetNetworkFailures(server);
    await app.signIn('openid'); // raises the limit of the network above that of the account
    const email = 'owner@meridian.example';
    const { browser, page } = await openSignInPage();
    const responses = await Promise.all(
      Array.from({ length: 6 }, async () => {
        await resetNetworkFailures(server);
        return browser.submit(formOf(page, '/login'), { email, password: 'wrong' });
      }),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([401, 401, 401, 401, 429, 429]);
    // A sign-in that waited ten seconds for the results of others has Retry-After: 1, and is not recorded.
    const recorded = responses.filter(({ headers }) => Number(headers.get('retry-after')) > 1).length;
    await resetNetworkFailures(server);
    const shown = await browser.submit(formOf(page, '/login'), { email, password });
    expect(shown.status).toBe(429);
    expect(Number(shown.headers.get('retry-after'))).toBeGreaterThan(800);
    await endGuessWindows(server);
    // The server writes counted records too, so this one may be committed a little later.
    const locked = await eventually(async () => {
      const records = await auditRecords(server, { email, event: 'sign_in_locked' });
      return records.length === 0 ? undefined : records;
    });
    // The locked ones of the six wrong passwords, and the correct password.
    expect(locked.map(({ details }) => details['count'])).toEqual([recorded + 1]);
  });

  it('shows the same page for a known and an unknown name that are locked, and only the audit log names the user', async () => {
    const responses: (string | null)[][] = [];
    for (const email of ['operator@platform.example', 'stranger@platform.example']) {
      const { browser, page } = await openSignInPage();
      const wrong = async () => {
        await resetNetworkFailures(server);
        return browser.submit(formOf(page, '/login'), { email, password: 'wrong' });
      };
      for (let count = 0; count < 4; count += 1) expect((await wrong()).status).toBe(401);
      const { status, headers, text } = await wrong();
      expect(status).toBe(429);
      responses.push([
        /<main.*<\/form>/s.exec(withoutVariableParts(text, email))?.[0] ?? '',
        headers.get('cache-control'),
      ]);
    }
    expect(responses[0]).toEqual(responses[1]);
    await endGuessWindows(server);
    const locked = await auditRecords(server, { clientId: app.clientId, event: 'sign_in_locked' });
    expect(new Set(locked.slice(-2).map(({ email }) => email))).toEqual(
      new Set(['operator@platform.example', null]),
    );
  });

  it('accepts every correct password of six concurrent sign-ins from one address, twice', async () => {
    await resetNetworkFailures(server);
    for (let round = 0; round < 2; round += 1) {
      const pages = await Promise.all(Array.from({ length: 6 }, openSignInPage));
      const shown = await Promise.all(
        pages.map(({ browser, page }) =>
          browser.submit(formOf(page, '/login'), { email: 'owner@harbour.example', password }),
        ),
      );
      expect(shown.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    }
  });

  it('locks a network without successful sign-ins after too many failures with any names', async () => {
    const { browser, page } = await openSignInPage();
    await server.database.run(testStatement('DELETE FROM network_sign_ins'));
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const email = `guess-${attempt}@harbour.example`;
      expect((await browser.submit(formOf(page, '/login'), { email, password: 'x' })).status).toBe(401);
    }
    const shown = await browser.submit(formOf(page, '/login'), { email: 'owner@harbour.example', password });
    expect(shown.status).toBe(429);
  });
});

describe('a form', () => {
  it.each([
    ['is accepted with 40 KiB', 40 * 1024, 401],
    ['gets an error page with more than 40 KiB', 40 * 1024 + 1, 400],
  ])('%s', async (_, bytes, status) => {
    const { browser, page } = await openSignInPage();
    const form = formOf(page, '/login');
    const size = new URLSearchParams({ ...form.hidden, padding: '' }).toString().length;
    const shown = await browser.submit(form, { padding: 'x'.repeat(bytes - size) });
    expect(shown.status).toBe(status);
    expect(shown.headers.get('content-type')).toContain('text/html');
  });

  it('gets an error page with 5000 fields', async () => {
    const { browser, page } = await openSignInPage();
    const fields = Array.from({ length: 5000 }, (_, index) => [`f${index}`, 'x'] as const);
    const shown = await browser.submit(formOf(page, '/login'), Object.fromEntries(fields));
    expect(shown.status).toBe(400);
  });
});

describe('forms', () => {
  it('are rejected without their token, with another token, or from another site', async () => {
    const { browser, page } = await openSignInPage();
    const { page: other } = await openSignInPage();
    const form = formOf(page, '/login');
    const fields = { email: 'owner@harbour.example', password };
    for (const [csrf, origin] of [
      ['', server.url],
      [formOf(other, '/login').hidden['csrf'] ?? '', server.url],
      [form.hidden['csrf'] ?? '', 'https://evil.example'],
      [form.hidden['csrf'] ?? '', 'null'],
    ] as const) {
      expect((await browser.submit(form, { ...fields, csrf }, { origin })).status).toBe(403);
    }
    const consent = await browser.submit(form, fields);
    expect((await browser.submit(formOf(consent, '/consent'), { csrf: 'x' })).status).toBe(403);
    const allowed = await browser.submit(formOf(consent, '/consent'));
    expect(allowed.url.searchParams.get('code')).toEqual(expect.any(String));
  });

  it('are neither shown to nor accepted from a browser with another sign-in', async () => {
    const { page } = await openSignInPage();
    const stranger = new FormBrowser(server);
    expect((await stranger.get(page.url.href)).status).toBe(400);
    const sent = await stranger.submit(formOf(page, '/login'), { email: 'owner@harbour.example', password });
    expect(sent.status).toBe(400);
    expect(sent.text).toContain('has expired');
  });
});

describe('the audit log after these tests', () => {
  it('contains sign-ins, failures, consents, codes and registrations, with the address of the browser or app', async () => {
    const eventsOfRequests = testStatement(
      `SELECT DISTINCT event, ip FROM audit_log WHERE details ->> 'actor' IS NULL`,
    );
    const rows = await server.database.rows<{ event: string; ip: string }>(eventsOfRequests);
    expect(rows.map(({ event }) => event)).toEqual(
      expect.arrayContaining([
        'signed_in',
        'sign_in_failed',
        'sign_in_locked',
        'consent_given',
        'client_registered',
        'code_issued',
      ]),
    );
    expect(new Set(rows.map(({ ip }) => ip))).toEqual(new Set(['127.0.0.1']));
  });
});
