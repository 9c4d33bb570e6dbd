import { FormBrowser, formOf, type Page } from '@fulfilment/testing/form-browser';
import { randomBytes } from 'node:crypto';
import { App, disconnectFormOf } from '../test/app.fixture.js';
import { auditEventsOf } from '../test/audit-records.fixture.js';
import { newUserEmail, openAccountPage, signInPageField } from '../test/account-pages.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';
import { fetchUserInfo } from '../test/token-states.fixture.js';

startServer();

/** Returns the status of UserInfo: 401 when the access token has ended. */
const userInfoStatus = async (token: string) => (await fetchUserInfo(token)).status;

describe('the account pages', () => {
  it.each(['/account', '/account/apps', '/account/browsers', '/account/security'])(
    'redirect from %s to the sign-in without a session, and back after it',
    async (path) => {
      const { shown } = await openAccountPage(await newUserEmail(), path);
      expect([shown.status, shown.url.pathname]).toEqual([200, path]);
    },
  );

  it('leave no token family behind after the sign-in', async () => {
    const email = await newUserEmail();
    await openAccountPage(email, '/account');
    const rows = await server.database.rows(
      testStatement(`SELECT model FROM oidc_model WHERE client_id = 'account' AND model <> 'Interaction'
        AND account_id = (SELECT id::text FROM users WHERE email = $1)`),
      [email],
    );
    expect(rows).toEqual([]);
  });

  it('are closed to a disabled user', async () => {
    const email = await newUserEmail();
    const { browser } = await openAccountPage(email, '/account');
    await server.database.run(testStatement('UPDATE users SET disabled_at = now() WHERE email = $1'), [
      email,
    ]);
    expect((await browser.get(`${server.url}/account`)).text).toContain(signInPageField);
  });

  it('redirect to /account/signed-out when the sign-in is cancelled', async () => {
    const browser = new FormBrowser(server);
    const page = await browser.get(`${server.url}/account/security`);
    const cancelled = await browser.submit(formOf(page, '/abort'));
    expect(cancelled.url.pathname).toBe('/account/signed-out');
  });

  it.each([
    ['/account/security/second-factor', '/account/security'],
    ['/account/securityX', '/account'],
    ['https://evil.example', '/account'],
  ])('redirect after the sign-in from the state %s to %s', async (state, path) => {
    const { browser } = await openAccountPage(await newUserEmail(), '/account');
    const shown = await browser.get(`${server.url}/account/signed-in?state=${state}&code=x`);
    expect(shown.url.href).toBe(`${server.url}${path}`);
  });

  it('reject an authorization code with NUL', async () => {
    const { browser } = await openAccountPage(await newUserEmail(), '/account');
    const rejected = await browser.get(`${server.url}/account/signed-in?state=/account&code=x%00`);
    expect(rejected.status).toBe(400);
  });

  it.each([
    '/account/name',
    '/account/apps/disconnect',
    '/account/browsers/sign-out',
    '/account/security/password',
    '/account/security/second-factor',
    '/account/security/second-factor/begin',
    '/account/security/second-factor/remove',
    '/account/security/recovery-codes',
  ])(
    'reject a form at %s without its token, with the token of another session, or from another site',
    async (action) => {
      const { browser, shown } = await openAccountPage(await newUserEmail(), '/account/security');
      const { browser: other, shown: othersPage } = await openAccountPage(
        await newUserEmail(),
        '/account/security',
      );
      const csrf = formOf(shown, '/password').hidden['csrf'] ?? '';
      const othersCsrf = formOf(othersPage, '/password').hidden['csrf'] ?? '';
      expect(csrf).not.toBe(othersCsrf);
      const rejected: Page[] = [
        await browser.submit({ action, hidden: {} }),
        await browser.submit({ action, hidden: { csrf: othersCsrf } }),
        await other.submit({ action, hidden: { csrf } }),
        await browser.submit({ action, hidden: { csrf } }, {}, { origin: 'https://evil.example' }),
      ];
      expect(rejected.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    },
  );

  it('cannot be framed and are never cached', async () => {
    const { shown } = await openAccountPage(await newUserEmail(), '/account/apps');
    expect(shown.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(shown.headers.get('cache-control')).toBe('no-store');
  });
});

describe('connected apps', () => {
  it('are listed with their permissions, and lose access immediately when they are disconnected', async () => {
    const email = await newUserEmail();
    const app = await App.register(server, { client_name: 'Tour <b>Planner</b>' });
    const { tokens } = await app.signIn('openid orders:read offline_access', { email });
    const other = await App.register(server, { client_name: 'Another app' });
    const { tokens: otherTokens } = await other.signIn('openid offline_access', { email });
    const { browser, shown } = await openAccountPage(email, '/account/apps');
    expect(shown.text).toContain('Tour &lt;b&gt;Planner&lt;/b&gt;');
    expect(shown.text).toContain('Read fulfilment orders');
    expect(shown.text).toContain('For Harbour Lights');
    const done = await browser.submit(disconnectFormOf(shown, app));
    expect(done.text).toContain('The app has been disconnected');
    expect(done.text).not.toContain('Planner');
    expect(done.text).toContain('Another app');
    expect(await userInfoStatus(tokens.access_token)).toBe(401);
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    expect(await userInfoStatus(otherTokens.access_token)).toBe(200);
    const { steps } = await app.authorize('openid orders:read', { email });
    expect(steps).toEqual(['login', 'consent']); // the consent is gone
    expect(await auditEventsOf(server, { email })).toContain('app_disconnected');
  });

  it('mark a test creator with "(test)", and show a creator without a name as unnamed', async () => {
    const email = await newUserEmail();
    const names: string[] = [];
    for (const [name, isTest] of [
      ['The Badger', true],
      [null, false],
      [null, true],
    ] as const) {
      const creator = await server.database.row<{ id: string }>(
        testStatement(`INSERT INTO creators (id, organisation_id, name, test, payment_terms_accepted,
            tax_interview_completed, settlement_currency)
          VALUES (gen_random_uuid(), 'org_harbour', $1, $2, true, true, 'EUR') RETURNING id`),
        [name, isTest],
      );
      const app = await App.register(server);
      await app.signIn('orders:read offline_access', { email, creator: creator?.id ?? '' });
      const { shown } = await openAccountPage(email, '/account/apps');
      names.push(/For (.*?) ·/.exec(shown.text)?.[1] ?? ''); // the newest app is the first
    }
    expect(names).toEqual(['The Badger (test)', 'Unnamed creator', 'Unnamed creator (test)']);
  });

  it('are listed without creators after the person has left the organisation, so that the person can disconnect them', async () => {
    const email = await newUserEmail();
    const app = await App.register(server, { client_name: 'Still connected' });
    await app.signIn('orders:read', { email });
    await server.database.run(
      testStatement('DELETE FROM memberships WHERE user_id = (SELECT id FROM users WHERE email = $1)'),
      [email],
    );
    const { shown } = await openAccountPage(email, '/account/apps');
    expect(shown.text).toContain('Still connected');
    expect(shown.text).not.toContain('Harbour Lights');
  });

  it('of another user are neither listed nor disconnected', async () => {
    const [mine, theirs] = [await newUserEmail(), await newUserEmail()];
    const app = await App.register(server, { client_name: 'Their app' });
    const { tokens } = await app.signIn('openid offline_access', { email: theirs });
    const { browser, shown } = await openAccountPage(mine, '/account/apps');
    expect(shown.text).not.toContain('Their app');
    const security = await browser.get(`${server.url}/account/security`);
    const csrf = formOf(security, '/password').hidden['csrf'] ?? '';
    // Too long for an index entry of PostgreSQL, even compressed.
    const veryLongId = randomBytes(3000).toString('base64url');
    for (const client_id of [app.clientId, 'unknown', veryLongId]) {
      const response = await browser.submit({
        action: '/account/apps/disconnect',
        hidden: { csrf, client_id },
      });
      expect(response.status).toBe(200);
    }
    expect(await userInfoStatus(tokens.access_token)).toBe(200);
    expect(await auditEventsOf(server, { email: mine })).not.toContain('app_disconnected');
  });
});

describe('browsers', () => {
  it('are listed and can be signed out, which ends the tokens of the session and keeps offline access', async () => {
    const email = await newUserEmail();
    const app = await App.register(server);
    const online = await app.signIn('openid', { email });
    const offline = await app.signIn('openid offline_access', { email, browser: online.browser });
    const { browser, shown } = await openAccountPage(email, '/account/browsers');
    expect(shown.text).toContain('this browser');
    const form = formOf(shown, '/browsers/sign-out');
    const done = await browser.submit(form);
    expect(done.text).toContain('Signed out of that browser.');
    expect(done.forms).toEqual([]);
    expect(await userInfoStatus(online.tokens.access_token)).toBe(401);
    expect(await userInfoStatus(offline.tokens.access_token)).toBe(200);
    const repeated = await app.authorize('openid', { email, browser: online.browser });
    expect(repeated.steps).toContain('login');
  });

  it('stay signed out when a request in progress saves the session again', async () => {
    const email = await newUserEmail();
    const { browser } = await openAccountPage(email, '/account');
    const other = await openAccountPage(email, '/account/browsers');
    const sessions = testStatement(`SELECT id, payload, account_id, session_uid, expires_at FROM oidc_model
        WHERE model = 'Session' AND account_id = (SELECT id::text FROM users WHERE email = $1)`);
    const before = await server.database.rows<Record<string, unknown>>(sessions, [email]);
    await other.browser.submit(formOf(other.shown, '/browsers/sign-out'));
    // A request that read the session before it was ended stores it again.
    for (const row of before) {
      await server.database.run(
        testStatement(`INSERT INTO oidc_model (model, id, payload, account_id, session_uid, expires_at)
          VALUES ('Session', $1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`),
        [row['id'], row['payload'], row['account_id'], row['session_uid'], row['expires_at']],
      );
    }
    expect(before).toHaveLength(2);
    expect((await browser.get(`${server.url}/account`)).text).toContain(signInPageField);
    expect((await other.browser.get(`${server.url}/account`)).url.pathname).toBe('/account');
  });

  it('are signed out all at once, except the current one', async () => {
    const email = await newUserEmail();
    const others = [await openAccountPage(email, '/account'), await openAccountPage(email, '/account')];
    const { browser, shown } = await openAccountPage(email, '/account/browsers');
    const form = shown.forms.find(({ hidden }) => hidden['session'] === 'others');
    if (form === undefined) throw new Error('The page has no form for all other browsers.');
    const done = await browser.submit(form);
    expect(done.text).toContain('Signed out of all other browsers.');
    expect(done.text).toContain('this browser');
    for (const other of others)
      expect((await other.browser.get(`${server.url}/account`)).text).toContain(signInPageField);
  });

  it('cannot be signed out by another user', async () => {
    const email = await newUserEmail();
    const theirs = await openAccountPage(email, '/account/browsers');
    const browsers = await server.database.rows<{ uid: string }>(
      testStatement(
        'SELECT uid FROM browser_sessions WHERE user_id = (SELECT id FROM users WHERE email = $1)',
      ),
      [email],
    );
    expect(browsers).toHaveLength(1);
    const { browser } = await openAccountPage(await newUserEmail(), '/account/browsers');
    const security = await browser.get(`${server.url}/account/security`);
    const csrf = formOf(security, '/password').hidden['csrf'] ?? '';
    await browser.submit({
      action: '/account/browsers/sign-out',
      hidden: { csrf, session: browsers[0]?.uid ?? '' },
    });
    expect((await theirs.browser.get(`${server.url}/account`)).url.pathname).toBe('/account');
  });
});
