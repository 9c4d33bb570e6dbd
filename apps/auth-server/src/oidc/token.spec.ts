import { createHash } from 'node:crypto';
import { expire } from '../test/backdate.fixture.js';
import { App, registerClient } from '../test/app.fixture.js';
import { json } from '../test/json.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServer();
let app: App;
beforeAll(async () => {
  app = await App.register(server);
});

/** Issues a code to the app. Returns its token request. */
const issueCode = async (parameters: Readonly<Record<string, string>> = {}) =>
  (await app.authorize('openid orders:read', { parameters })).exchangeForm;
const responseTo = async (form: Readonly<Record<string, string>>, client = app) => {
  const response = await client.post('token', form);
  return { status: response.status, body: await json(response), headers: response.headers };
};

describe('the verifier (RFC 7636 §4.6)', () => {
  it.each([
    ['that is wrong', 'invalid_grant', 'x'.repeat(43)],
    ['of 42 characters', 'invalid_request', 'x'.repeat(42)],
    ['of 129 characters', 'invalid_request', 'x'.repeat(129)],
    ['with a character that is not allowed', 'invalid_request', `${'x'.repeat(42)}*`],
    ['that is empty', 'invalid_grant', ''],
    ['that is missing', 'invalid_grant', undefined],
  ])('%s is rejected with %s, and the code stays valid for its client', async (_, error, code_verifier) => {
    const exchange = await issueCode();
    const { code_verifier: good, ...rest } = exchange;
    const rejected = await responseTo(code_verifier === undefined ? rest : { ...rest, code_verifier });
    expect(rejected.status).toBe(400);
    expect(rejected.body.error).toBe(error);
    expect(rejected.headers.get('cache-control')).toBe('no-store');
    expect((await responseTo({ ...rest, code_verifier: good })).status).toBe(200);
  });

  it('is rejected when it is the challenge itself, as in the method plain (RFC 9700 §2.1.1)', async () => {
    const code_challenge = createHash('sha256').update('y'.repeat(43)).digest('base64url');
    const exchange = await issueCode({ code_challenge });
    expect((await responseTo({ ...exchange, code_verifier: code_challenge })).body.error).toBe(
      'invalid_grant',
    );
  });

  it.each([43, 128])('is accepted with %i characters', async (length) => {
    const code_verifier = '-._~Az09'.repeat(16).slice(0, length);
    const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');
    const exchange = await issueCode({ code_challenge });
    expect((await responseTo({ ...exchange, code_verifier })).status).toBe(200);
  });
});

describe('a code', () => {
  it('is exchanged for the response of RFC 6749 §5.1, which is never cached', async () => {
    const exchange = await issueCode();
    const { status, body, headers } = await responseTo(exchange);
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual([
      'access_token',
      'expires_in',
      'id_token',
      'scope',
      'token_type',
    ]);
    expect(body).toMatchObject({ expires_in: 3600, token_type: 'Bearer', scope: 'openid orders:read' });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('is rejected when it was issued to another client (RFC 6749 §5.2)', async () => {
    const exchange = await issueCode();
    const rejected = await responseTo(exchange, await App.register(server));
    expect([rejected.status, rejected.body.error]).toEqual([400, 'invalid_grant']);
    expect((await responseTo(exchange)).status).toBe(200);
  });

  it.each([
    ['another URI', 'invalid_grant', 'https://app.example/other'],
    ['missing', 'invalid_request', undefined],
  ])('whose redirect_uri is %s is rejected with %s (RFC 6749 §4.1.3)', async (_, error, redirect_uri) => {
    const exchange = await issueCode();
    const { redirect_uri: _registered, ...rest } = exchange;
    const rejected = await responseTo(redirect_uri === undefined ? rest : { ...rest, redirect_uri });
    expect(rejected.status).toBe(400);
    expect(rejected.body.error).toBe(error);
  });

  it('expires after 120 s (RFC 6749 §4.1.2)', async () => {
    const exchange = await issueCode();
    const row = await server.database.row(
      testStatement(`SELECT (payload ->> 'exp')::int - (payload ->> 'iat')::int AS lifetime FROM oidc_model
        WHERE model = 'AuthorizationCode' AND client_id = $1 ORDER BY created_at DESC LIMIT 1`),
      [app.clientId],
    );
    expect(row).toEqual({ lifetime: 120 });
    await expire(server, 'AuthorizationCode', app.clientId);
    expect((await responseTo(exchange)).body.error).toBe('invalid_grant');
  });

  it.each([
    ['', 'invalid_request'],
    ['x', 'invalid_grant'],
    ['x'.repeat(43), 'invalid_grant'],
    ['../../x', 'invalid_grant'],
    ["' OR 1=1 --", 'invalid_grant'],
  ])('with the value %j is rejected with %s', async (code, error) => {
    const exchange = await issueCode();
    const { status, body } = await responseTo({ ...exchange, code });
    expect([status, body.error]).toEqual([400, error]);
  });
});

describe('a token request', () => {
  it.each([
    'client_credentials',
    'password',
    'implicit',
    'urn:ietf:params:oauth:grant-type:device_code',
    'x',
  ])('with the grant type %s is rejected with unsupported_grant_type (RFC 9700 §2.4)', async (grant_type) => {
    const { status, body } = await responseTo({ grant_type, username: 'a', password: 'b' });
    expect([status, body.error]).toEqual([400, 'unsupported_grant_type']);
  });

  it('is rejected with invalid_request without a grant type or with a parameter twice (RFC 6749 §3.2)', async () => {
    expect((await responseTo({})).body.error).toBe('invalid_request');
    const exchange = await issueCode();
    for (const name of [...Object.keys(exchange), 'client_id']) {
      const body = new URLSearchParams({ client_id: app.clientId, ...exchange });
      body.append(name, body.get(name) ?? '');
      const response = await server.fetch(`${server.url}/api/auth/oauth2/token`, { method: 'POST', body });
      expect([name, response.status]).toEqual([name, 400]);
      expect((await json(response)).error).toBe('invalid_request');
    }
  });

  it.each([
    ['JSON', 'application/json', (form: object) => JSON.stringify(form)],
    ['text', 'text/plain', (form: Record<string, string>) => new URLSearchParams(form).toString()],
  ])(
    'that is sent as %s, not as a form, is rejected with invalid_request (RFC 6749 §3.2)',
    async (_, type, encode) => {
      const exchange = await issueCode();
      const response = await server.fetch(`${server.url}/api/auth/oauth2/token`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: encode({ client_id: app.clientId, ...exchange }),
      });
      expect(response.status).toBe(400);
      expect(await json(response)).toMatchObject({ error: 'invalid_request' });
      expect((await responseTo(exchange)).status).toBe(200);
    },
  );

  it('is rejected with its parameters in the query (RFC 6749 §2.3.1)', async () => {
    const exchange = await issueCode();
    const query = new URLSearchParams({ client_id: app.clientId, ...exchange }).toString();
    const response = await server.fetch(`${server.url}/api/auth/oauth2/token?${query}`, { method: 'POST' });
    expect(response.status).toBe(400);
    expect((await responseTo(exchange)).status).toBe(200);
  });

  /** Sends a refresh with an unknown token, whose body has this size. */
  const sendBytes = (bytes: number) => {
    const form = { grant_type: 'refresh_token', refresh_token: '' };
    const size = new URLSearchParams({ client_id: app.clientId, ...form }).toString().length;
    return app.post('token', { ...form, refresh_token: 'x'.repeat(bytes - size) });
  };

  it('may have 56 KiB', async () => {
    const response = await sendBytes(56 * 1024);
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({ error: 'invalid_grant' });
  });

  it.each([
    ['more than 56 KiB', 56 * 1024 + 1],
    ['300 KB', 300_000], // below the limit of the gateway, 320 KiB
  ])('of %s is rejected with 413, with the OAuth error and the error envelope', async (_, bytes) => {
    const response = await sendBytes(bytes);
    expect(response.status).toBe(413);
    expect(await json(response)).toMatchObject({ error: 'invalid_request', code: 'VALIDATION_ERROR' });
  });

  it('is rejected with 413 when it has 60 KB and no Content-Length', async () => {
    const body = new Blob(['grant_type=refresh_token&refresh_token=', 'x'.repeat(60_000)]).stream();
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as const;
    expect((await fetch(`${server.direct}/api/auth/oauth2/token`, init)).status).toBe(413);
  });

  it('is rejected with 404 when it uses GET or an unknown path', async () => {
    for (const path of [
      '/api/auth/oauth2/token',
      '/api/auth/nothing',
      '/nothing',
      '/api/auth/oauth2',
      '/api/auth',
    ]) {
      const response = await server.fetch(`${server.url}${path}`);
      expect(response.status).toBe(404);
      expect(await json(response)).toMatchObject({ statusCode: 404, code: 'NOT_FOUND' });
    }
  });
});

describe('client authentication (RFC 6749 §2.3, §5.2)', () => {
  const request = (form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
    server.fetch(`${server.url}/api/auth/oauth2/token`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(form),
    });
  async function registerConfidential(token_endpoint_auth_method: string) {
    const registered = await registerClient(server, { token_endpoint_auth_method });
    const { client_id, client_secret: secret = '' } = registered;
    return {
      form: { grant_type: 'refresh_token', refresh_token: 'x', client_id },
      basic: (typed: string) => ({ authorization: `Basic ${btoa(`${client_id}:${typed}`)}` }),
      secret,
    };
  }

  it('fails with invalid_client for an unknown client', async () => {
    const { status, body } = await responseTo({ client_id: 'nobody', grant_type: 'refresh_token' });
    expect([status, body.error]).toEqual([401, 'invalid_client']);
  });

  it.each(['client_secret_basic', 'client_secret_post'])(
    'by %s needs the secret, which the header or the form may contain',
    async (method) => {
      const { form, basic, secret } = await registerConfidential(method);
      const byPost = (client_secret: string) => request({ ...form, client_secret });
      const byBasic = (client_secret: string) => request(form, basic(client_secret));
      for (const attempt of [request(form), byPost('wrong'), byPost('')]) {
        const response = await attempt;
        expect(response.status).toBe(401);
        expect((await json(response)).error).toBe('invalid_client');
      }
      const wrong = await byBasic('wrong');
      expect(wrong.status).toBe(401);
      expect(wrong.headers.get('www-authenticate')).toMatch(/^Basic /);
      for (const attempt of [byBasic(secret), byPost(secret)])
        expect((await json(await attempt)).error).toBe('invalid_grant');
    },
  );

  it('is rejected when a request has two methods', async () => {
    const { form, basic, secret } = await registerConfidential('client_secret_basic');
    const response = await request({ ...form, client_secret: secret }, basic(secret));
    expect(response.status).toBe(400);
    expect((await json(response)).error).toBe('invalid_request');
  });

  it.each(['introspect', 'revoke'])('is required at %s (RFC 7662 §2.1, RFC 7009 §2.1)', async (path) => {
    const response = await server.fetch(`${server.url}/api/auth/oauth2/${path}`, {
      method: 'POST',
      body: new URLSearchParams({ token: 'x' }),
    });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="clients"',
    ]);
    expect(await json(response)).toMatchObject({ error: 'invalid_client' });
    const { client_id } = server.clients.resourceServer;
    const wrong = await server.fetch(`${server.url}/api/auth/oauth2/${path}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client_id}:wrong`)}` },
      body: new URLSearchParams({ token: 'x' }),
    });
    expect(wrong.status).toBe(401);
  });
});

describe('calls from browsers (CORS, RFC 9700 §2.6)', () => {
  it.each(['token', 'revoke'])(
    'to %s are allowed only for the origins of the client’s redirect URIs',
    async (path) => {
      const call = (origin: string) =>
        app.post(path, { grant_type: 'refresh_token', refresh_token: 'x', token: 'x' }, { origin });
      const own = await call('https://app.example');
      expect(own.headers.get('access-control-allow-origin')).toBe('https://app.example');
      const foreign = await call('https://evil.example');
      expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
      expect(foreign.status).toBe(400);
      expect((await json(foreign)).error_description).toMatch(/^origin https:\/\/evil\.example not allowed/);
    },
  );
});
