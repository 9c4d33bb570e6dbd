import { jest } from '@jest/globals';
import { App, registerClient } from '../test/app.fixture.js';
import { json } from '../test/json.fixture.js';
import { server, startServer } from '../test/server.fixture.js';

const quota = 20;
/** A window of a day, in seconds: the quota gains less than one request while a test runs. */
const setting = `${quota}/86400`;
startServer({
  RATE_LIMIT_TOKEN: setting,
  RATE_LIMIT_REGISTER: setting,
  RATE_LIMIT_AUTHORIZATION: setting,
});
let app: App;
beforeAll(async () => {
  app = await App.register(server);
});

const quotaNames = ['token', 'register', 'authorization', 'documents'];
const resetQuotas = () => server.redis.client.del(quotaNames.map((name) => `rate:${name}:127.0.0.1`));
/** Sends 1.5 times the quota. Checks number and headers of the rejected responses, and returns them. */
async function burst(path: string, init: () => RequestInit = () => ({})): Promise<Response[]> {
  await resetQuotas();
  const responses = await Promise.all(
    Array.from({ length: quota * 1.5 }, () =>
      server.fetch(`${server.url}${path}`, { redirect: 'manual', ...init() }),
    ),
  );
  const rejected = responses.filter(({ status }) => status === 429);
  expect(rejected).toHaveLength(quota / 2);
  for (const { headers } of rejected) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(headers.get('cache-control')).toBe('no-store');
  }
  return rejected;
}

const post = (): RequestInit => ({ method: 'POST', body: new URLSearchParams({ client_id: 'x' }) });

describe('a burst (RFC 6585 §4)', () => {
  it.each([
    ['POST token', '/api/auth/oauth2/token', post],
    ['POST register', '/api/auth/oauth2/register', post],
    ['GET register/ID', '/api/auth/oauth2/register/x', undefined],
    ['GET userinfo', '/api/auth/oauth2/userinfo', undefined],
    ['POST userinfo', '/api/auth/oauth2/userinfo', post],
    ['POST introspect', '/api/auth/oauth2/introspect', post],
    ['POST revoke', '/api/auth/oauth2/revoke', post],
    ['POST par', '/api/auth/oauth2/par', post],
    ['GET jwks', '/api/auth/jwks', undefined],
    ['GET metadata', '/.well-known/openid-configuration', undefined],
    ['GET metadata', '/.well-known/oauth-authorization-server/api/auth', undefined],
    ['GET metadata', '/api/auth/.well-known/openid-configuration', undefined],
  ])(
    'of %s at %s gets 429 with Retry-After and the members of an OAuth error and of the error envelope',
    async (_, path, init) => {
      const [rejected] = await burst(path, init);
      // A browser app can read Retry-After.
      expect(rejected?.headers.get('access-control-allow-origin')).toBe('*');
      expect(rejected?.headers.get('access-control-expose-headers')).toContain('Retry-After');
      expect(await rejected?.json()).toMatchObject({
        error: 'temporarily_unavailable',
        error_description: expect.any(String),
        statusCode: 429,
        code: 'RATE_LIMITED',
      });
    },
  );

  it.each([
    ['the sign-in page', '/interaction/x', undefined],
    ['the sign-in form', '/interaction/x/login', post],
    ['the consent form', '/interaction/x/consent', post],
    ['authorize', '/api/auth/oauth2/authorize', undefined],
    ['end-session', '/api/auth/oauth2/end-session', undefined],
    ['the account pages', '/account', undefined],
    ['a form of the account pages', '/account/security/password', post],
  ])('at %s gets 429 with Retry-After, on a page', async (_, path, init) => {
    const [rejected] = await burst(path, init);
    expect(rejected?.headers.get('content-type')).toContain('text/html');
    expect(rejected?.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(await rejected?.text()).toContain('Too many requests');
  });

  it('at UserInfo does not limit the token endpoint, and one at the token endpoint limits neither UserInfo nor the keys', async () => {
    await burst('/api/auth/oauth2/userinfo');
    expect((await app.post('token', { grant_type: 'x' })).status).toBe(400);
    await burst('/api/auth/oauth2/token', post);
    expect((await server.fetch(`${server.url}/api/auth/oauth2/userinfo`)).status).not.toBe(429);
    expect((await server.fetch(`${server.url}/api/auth/jwks`)).status).toBe(200);
  });
});

describe('one quota', () => {
  const isLimited = async (path: string, init?: RequestInit) =>
    (await server.fetch(`${server.url}${path}`, { redirect: 'manual', ...init })).status === 429;

  it('is that of the keys and the metadata, and of no other endpoint', async () => {
    await burst('/api/auth/jwks');
    expect(await isLimited('/.well-known/openid-configuration')).toBe(true);
    expect(await isLimited('/api/auth/oauth2/userinfo')).toBe(false);
  });

  it('is that of all endpoints without their own, and not that of the keys', async () => {
    await burst('/api/auth/oauth2/userinfo');
    for (const path of ['authorize', 'end-session', 'register/x'].map((name) => `/api/auth/oauth2/${name}`))
      expect([path, await isLimited(path)]).toEqual([path, true]);
    for (const path of ['introspect', 'revoke', 'par'].map((name) => `/api/auth/oauth2/${name}`))
      expect([path, await isLimited(path, post())]).toEqual([path, true]);
    for (const path of ['/interaction/x', '/account'])
      expect([path, await isLimited(path)]).toEqual([path, true]);
    expect(await isLimited('/api/auth/jwks')).toBe(false);
  });
});

describe('a confidential client', () => {
  const registerConfidential = async (method: string) => {
    const newClient = await registerClient(server, { token_endpoint_auth_method: method });
    return { id: newClient.client_id, secret: String(newClient.client_secret) };
  };
  type Confidential = Awaited<ReturnType<typeof registerConfidential>>;
  const basic = ({ id, secret }: Confidential): RequestInit => ({
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', token: 'x' }),
  });
  const inForm = ({ id, secret }: Confidential): RequestInit => ({
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: 'x',
      token: 'x',
      client_id: id,
      client_secret: secret,
    }),
  });
  const send = async (endpoint: string, init: RequestInit) =>
    (await server.fetch(`${server.url}/api/auth/oauth2/${endpoint}`, init)).status;

  it.each([
    ['token', 'client_secret_basic', basic, 400],
    ['token', 'client_secret_post', inForm, 400],
    ['introspect', 'client_secret_basic', basic, 200],
    ['revoke', 'client_secret_post', inForm, 200],
  ] as const)(
    'that has authenticated at %s by %s has its own quota, independent of its network',
    async (endpoint, method, init, accepted) => {
      await resetQuotas();
      const one = await registerConfidential(method);
      const other = await registerConfidential(method);
      expect([await send(endpoint, init(one)), await send(endpoint, init(other))]).toEqual([
        accepted,
        accepted,
      ]);
      await burst(`/api/auth/oauth2/${endpoint}`, post);
      const statuses = await Promise.all(
        Array.from({ length: quota * 1.5 }, () => send(endpoint, init(one))),
      );
      expect(statuses.filter((status) => status === accepted).length).toBeGreaterThanOrEqual(quota);
      expect(statuses).toContain(429);
      expect(await send(endpoint, init(other))).toBe(accepted);
    },
  );

  it('counts for its network with a wrong secret, and before its secret was accepted for the first time', async () => {
    await resetQuotas();
    const known = await registerConfidential('client_secret_basic');
    expect(await send('token', basic(known))).toBe(400);
    await burst('/api/auth/oauth2/token', () => basic({ ...known, secret: 'wrong' }));
    expect(await send('token', basic({ ...known, secret: 'guess' }))).toBe(429);
    expect(await send('token', basic(await registerConfidential('client_secret_basic')))).toBe(429);
    expect(await send('token', basic(known))).toBe(400);
  });

  it('counts for its network when its secret was last accepted more than ten minutes ago', async () => {
    await resetQuotas();
    const known = await registerConfidential('client_secret_basic');
    const now = performance.now.bind(performance);
    let laterMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + laterMs);
    expect(await send('token', basic(known))).toBe(400);
    await burst('/api/auth/oauth2/token', post);
    laterMs += 590_000;
    expect(await send('token', basic(known))).toBe(400);
    laterMs += 600_001;
    expect(await send('token', basic(known))).toBe(429);
    clock.mockRestore();
  });

  it('keeps its quota while others name it in a client attestation without its secret', async () => {
    await resetQuotas();
    const victim = await registerConfidential('client_secret_post');
    const attestation = `e30.${Buffer.from(JSON.stringify({ sub: victim.id })).toString('base64url')}.e30`;
    const attack = () => ({
      ...inForm({ ...victim, secret: '' }),
      headers: { 'oauth-client-attestation': attestation },
    });
    // The attack happens before the victim has authenticated, and once more after it.
    expect(await send('token', attack())).toBe(400);
    await burst('/api/auth/oauth2/token', attack);
    await resetQuotas();
    expect(await send('token', inForm(victim))).toBe(400);
    await burst('/api/auth/oauth2/token', attack);
    expect(await send('token', inForm(victim))).toBe(400);
  });

  it('counts for its network after it was deleted, from its second request on', async () => {
    await resetQuotas();
    const newClient = await registerClient(server, { token_endpoint_auth_method: 'client_secret_basic' });
    const client = { id: newClient.client_id, secret: String(newClient.client_secret) };
    expect(await send('token', basic(client))).toBe(400);
    const deleted = await server.fetch(newClient.registration_client_uri, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${newClient.registration_access_token}` },
    });
    expect(deleted.status).toBe(204);
    await burst('/api/auth/oauth2/token', post);
    expect(await send('token', basic(client))).toBe(401); // still counts for the client
    expect(await send('token', basic(client))).toBe(429);
  });
});

describe('a client within its limits', () => {
  it('gets no Retry-After', async () => {
    await resetQuotas();
    const response = await server.fetch(`${server.url}/.well-known/openid-configuration`);
    expect(response.status).toBe(200);
    expect(response.headers.get('retry-after')).toBeNull();
    expect(await json(response)).toHaveProperty('issuer');
  });
});

it.each(['/oauth2/Token', '/oauth2/token/', '/OAUTH2/token', '/oauth2/REGISTER', '/oauth2/%74oken'])(
  'only one spelling of a path exists, so %s cannot bypass a quota',
  async (path) => {
    await resetQuotas();
    const response = await server.fetch(`${server.url}/api/auth${path}`, { method: 'POST' });
    expect(response.status).toBe(404);
  },
);
