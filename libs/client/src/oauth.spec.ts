import { createHash } from 'node:crypto';
import { AuthorizationServer, memoryTokenStore, SignInRequiredError } from './oauth.js';
import { loopbackRedirectUri, signIn } from './sign-in.js';

const issuer = 'https://suite.example/api/auth';
const endpoint = (name: string): string => `${issuer}/oauth2/${name}`;
const metadata = {
  issuer,
  authorization_endpoint: endpoint('authorize'),
  token_endpoint: endpoint('token'),
  registration_endpoint: endpoint('register'),
  revocation_endpoint: endpoint('revoke'),
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
};
const tokens = { access_token: 'at_1', token_type: 'Bearer', expires_in: 3600, refresh_token: 'rt_1' };

/** An authorization server behind a `fetch`. Each POST gets the next reply, or fails without one. */
async function fakeServer(...replies: readonly Response[]) {
  const received: { readonly url: string; readonly body: string }[] = [];
  const waitsMs: number[] = [];
  const server = await AuthorizationServer.discover(issuer, {
    now: () => 1_000_000,
    random: () => 0,
    wait: (ms) => {
      waitsMs.push(ms);
      return Promise.resolve();
    },
    fetch: async (input, init) => {
      const request = new Request(input, init);
      if (request.method === 'GET') return Response.json(metadata);
      const reply = replies[received.length];
      received.push({ url: request.url, body: await request.text() });
      if (reply === undefined) throw new TypeError('fetch failed');
      return reply;
    },
  });
  return { server, received, waitsMs };
}

const request = {
  clientId: 'client_1',
  redirectUri: 'https://app.example/callback',
  scopes: ['orders:read'],
};
const callbackOf = (state: string, parameters: Readonly<Record<string, string>>): string =>
  `${request.redirectUri}?${new URLSearchParams({ state, iss: issuer, ...parameters })}`;

describe('the client of an authorization server', () => {
  it('registers a public app (RFC 7591)', async () => {
    const { server, received } = await fakeServer(Response.json({ client_id: 'client_1' }, { status: 201 }));
    const clientId = await server.register({ name: 'Merch Sync', redirectUris: [loopbackRedirectUri] });
    expect(clientId).toBe('client_1');
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      client_name: 'Merch Sync',
      redirect_uris: [loopbackRedirectUri],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    });
  });

  it('exchanges the code with the PKCE verifier of the sign-in (RFC 7636)', async () => {
    const { server, received } = await fakeServer(Response.json(tokens));
    const started = await server.startSignIn(request);
    const parameters = new URL(started.url).searchParams;
    const challenge = createHash('sha256').update(started.codeVerifier).digest('base64url');
    expect(Object.fromEntries(parameters)).toEqual({
      response_type: 'code',
      client_id: 'client_1',
      redirect_uri: request.redirectUri,
      scope: 'orders:read',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      state: started.state,
    });
    expect(await server.finishSignIn(started, callbackOf(started.state, { code: 'c' }))).toEqual({
      accessToken: 'at_1',
      refreshToken: 'rt_1',
      expiresAtMs: 4_600_000,
    });
    expect(Object.fromEntries(new URLSearchParams(received[0]?.body))).toMatchObject({
      grant_type: 'authorization_code',
      code: 'c',
      code_verifier: started.codeVerifier,
      redirect_uri: request.redirectUri,
    });
  });

  it.each([
    ['another state', callbackOf('other', { code: 'c' })],
    ['another issuer (RFC 9207)', callbackOf('STATE', { code: 'c', iss: 'https://evil.example' })],
    ['an error, because the person declined', callbackOf('STATE', { error: 'access_denied' })],
  ])('does not exchange a code of a callback with %s', async (_what, callback) => {
    const { server, received } = await fakeServer(Response.json(tokens));
    const started = await server.startSignIn(request);
    await expect(server.finishSignIn(started, callback.replace('STATE', started.state))).rejects.toThrow();
    expect(received).toEqual([]);
  });

  it('creates a session that refreshes its tokens, and saves the new ones', async () => {
    const { server, received } = await fakeServer(
      Response.json({ ...tokens, access_token: 'at_2', refresh_token: 'rt_2' }),
    );
    const store = memoryTokenStore({ accessToken: 'at_1', refreshToken: 'rt_1' });
    expect(await server.session('client_1', store).renew('at_1')).toBe('at_2');
    expect(await store.load()).toMatchObject({ accessToken: 'at_2', refreshToken: 'rt_2' });
    expect(Object.fromEntries(new URLSearchParams(received[0]?.body))).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'rt_1',
      client_id: 'client_1',
    });
  });

  it('throws SignInRequiredError after invalid_grant', async () => {
    const { server } = await fakeServer(Response.json({ error: 'invalid_grant' }, { status: 400 }));
    await expect(server.refresh('client_1', 'rt_1')).rejects.toThrow(SignInRequiredError);
  });

  it('does not repeat a refresh without a response, because a second use would end the session', async () => {
    const { server, received } = await fakeServer();
    await expect(server.refresh('client_1', 'rt_1')).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(received).toHaveLength(1);
  });

  it('repeats a refresh after Retry-After', async () => {
    const { server, waitsMs } = await fakeServer(
      new Response('', { status: 503, headers: { 'retry-after': '1' } }),
      Response.json(tokens),
    );
    expect(await server.refresh('client_1', 'rt_1')).toMatchObject({ accessToken: 'at_1' });
    expect(waitsMs).toEqual([1000]);
  });

  it('revokes a token (RFC 7009)', async () => {
    const { server, received } = await fakeServer(new Response(null, { status: 200 }));
    await server.revoke('client_1', 'rt_1');
    expect(received[0]?.url).toBe(endpoint('revoke'));
    expect(received[0]?.body).toContain('token=rt_1');
  });
});

describe('the discovery of an authorization server', () => {
  const discover = (origin: string) =>
    AuthorizationServer.discover(`${origin}/api/auth`, {
      fetch: () => Promise.resolve(Response.json({ issuer: `${origin}/api/auth` })),
    });

  it('accepts HTTP at 127.0.0.1, for development', async () => {
    expect(await discover('http://127.0.0.1:8443')).toBeInstanceOf(AuthorizationServer);
  });

  it('rejects HTTP elsewhere, because tokens would be readable', async () => {
    await expect(discover('http://suite.example')).rejects.toThrow('HTTPS');
  });
});

describe('a sign-in on a loopback port', () => {
  const request = { clientId: 'client_1', scopes: ['orders:read'] };

  it('exchanges the code with which the browser returns (RFC 8252), and ignores other requests', async () => {
    const { server, received } = await fakeServer(Response.json(tokens));
    let page = '';
    const signedIn = await signIn(server, {
      ...request,
      open: async (url) => {
        const { redirect_uri: redirectUri = '', state = '' } = Object.fromEntries(new URL(url).searchParams);
        for (const other of [`${redirectUri}?state=other&code=c`, `${new URL(redirectUri).origin}//`])
          expect((await fetch(other)).status).toBe(404);
        const query = new URLSearchParams({ state, code: 'c', iss: issuer });
        page = await (await fetch(`${redirectUri}?${query}`)).text();
      },
    });
    expect(signedIn.accessToken).toBe('at_1');
    expect(page).toBe('You can close this page.');
    expect(new URLSearchParams(received[0]?.body).get('redirect_uri')).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/callback$/,
    );
  });

  it("throws the signal's reason when the caller aborts", async () => {
    const { server } = await fakeServer();
    const controller = new AbortController();
    const reason = new Error('It took too long.');
    const ended = signIn(server, {
      ...request,
      signal: controller.signal,
      open: () => controller.abort(reason),
    });
    await expect(ended).rejects.toBe(reason);
  });
});
