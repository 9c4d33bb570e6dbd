import { App } from '../test/app.fixture.js';
import { json } from '../test/json.fixture.js';
import { server, startServer } from '../test/server.fixture.js';

startServer();
let app: App;
beforeAll(async () => {
  app = await App.register(server);
});

const userInfo = (init: RequestInit = {}, query = '') =>
  server.fetch(`${server.url}/api/auth/oauth2/userinfo${query}`, init);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('UserInfo (OpenID Connect Core §5.3)', () => {
  it.each([
    ['openid', {}],
    ['openid profile', { name: 'A Person' }],
    ['openid email', { email: 'owner@harbour.example', email_verified: false }],
    ['openid profile email', { name: 'A Person', email: 'owner@harbour.example', email_verified: false }],
  ])('returns for %s the claims of these scopes, and no others (§5.4)', async (scope, granted) => {
    const { tokens } = await app.signIn(scope);
    const response = await userInfo({ headers: bearer(tokens.access_token) });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await json(response)).toEqual({
      sub: server.users.harbourOwner.user_id,
      org_id: 'org_harbour',
      org_role: 'owner',
      creator_id: server.creators.harbour.uuid,
      ...granted,
    });
  });

  it('accepts GET and POST, with the token in the header or the form (§5.3.1, RFC 6750 §2.2)', async () => {
    const { tokens } = await app.signIn('openid email');
    const responses = await Promise.all([
      userInfo({ headers: bearer(tokens.access_token) }),
      userInfo({ method: 'POST', headers: bearer(tokens.access_token) }),
      userInfo({ method: 'POST', body: new URLSearchParams({ access_token: tokens.access_token }) }),
    ]);
    const bodies = await Promise.all(responses.map((response) => json(response)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bodies[2]).toEqual(bodies[0]);
  });

  it('does not accept a token in the query (RFC 9700 §4.3.2)', async () => {
    const { tokens } = await app.signIn('openid');
    const response = await userInfo({}, `?access_token=${tokens.access_token}`);
    expect(response.status).toBe(400);
    expect(await json(response)).not.toHaveProperty('sub');
  });

  it('rejects a token in two places (RFC 6750 §2)', async () => {
    const { tokens } = await app.signIn('openid');
    const response = await userInfo({
      method: 'POST',
      headers: bearer(tokens.access_token),
      body: new URLSearchParams({ access_token: tokens.access_token }),
    });
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({ error: 'invalid_request' });
  });

  it('returns a challenge without a token, and invalid_token for an invalid one (RFC 6750 §3)', async () => {
    const bad = await userInfo({ headers: bearer('nonsense') });
    expect(bad.status).toBe(401);
    expect(bad.headers.get('www-authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
    const none = await userInfo();
    expect(none.status).toBe(401);
    expect(none.headers.get('www-authenticate')).toMatch(/Bearer/);
  });

  it('responds with 403 insufficient_scope without the scope openid (RFC 6750 §3.1)', async () => {
    const { tokens } = await app.signIn('orders:read');
    const response = await userInfo({ headers: bearer(tokens.access_token) });
    expect(response.status).toBe(403);
    expect(await json(response)).toMatchObject({ error: 'insufficient_scope' });
  });

  it('allows a browser app only at the origin of its redirect URI (Fetch §3.3)', async () => {
    const { tokens } = await app.signIn('openid');
    for (const [origin, allowed] of [
      ['https://app.example', 'https://app.example'],
      ['https://evil.example', null],
    ] as const) {
      const response = await userInfo({ headers: { ...bearer(tokens.access_token), origin } });
      expect(response.headers.get('access-control-allow-origin')).toBe(allowed);
    }
    const preflight = await userInfo({
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization');
  });
});
