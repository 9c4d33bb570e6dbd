import { base64url, decodeJwt } from 'jose';
import * as client from 'openid-client';
import { expire } from '../../test/backdate.fixture.js';
import { App, registerClient } from '../../test/app.fixture.js';
import { Outbox } from '@fulfilment/messaging';
import { createClient } from '../../registration/create-client.js';
import { deleteClient } from '../../registration/delete-client.js';
import { auditRecords } from '../../test/audit-records.fixture.js';
import { json } from '../../test/json.fixture.js';
import { endGuessWindows } from '../../test/guess-windows.fixture.js';
import { server, startServer } from '../../test/server.fixture.js';
import { testStatement } from '../../test/test-statement.fixture.js';

startServer();
let app: App;
let resourceServer: App;
let tokens: client.TokenEndpointResponse;
beforeAll(async () => {
  app = await App.register(server);
  resourceServer = await App.ofClient(server, server.clients.resourceServer);
  ({ tokens } = await app.signIn('openid email offline_access orders:read'));
});

const introspect = (by: App, token: string, parameters: Record<string, string> = {}) =>
  client.tokenIntrospection(by.configuration, token, parameters);
const inactive = { active: false };

const formType = 'application/x-www-form-urlencoded';
const damageSecret = testStatement(
  `UPDATE oidc_model SET payload = jsonb_set(payload, '{client_secret_sealed}', '"damaged"') WHERE model = 'Client' AND id = $1`,
);

describe('introspection (RFC 7662)', () => {
  it('returns all claims of another client’s access token to a resource server (§2.2)', async () => {
    const claims = decodeJwt(tokens.access_token);
    expect(await introspect(resourceServer, tokens.access_token)).toEqual({
      active: true,
      iss: `${server.url}/api/auth`,
      sub: server.users.harbourOwner.user_id,
      aud: ['https://suite.example/store'],
      client_id: app.clientId,
      scope: 'openid email orders:read offline_access',
      jti: claims.jti,
      iat: claims.iat,
      exp: claims.exp,
      token_type: 'Bearer',
      org_id: 'org_harbour',
      org_role: 'owner',
      creator_id: server.creators.harbour.uuid,
    });
  });

  it.each(['none', 'client_secret_basic'])(
    'returns the claims of a client’s own access and refresh tokens (%s)',
    async (token_endpoint_auth_method) => {
      const own = await App.register(server, { token_endpoint_auth_method });
      const { tokens: issued } = await own.signIn('offline_access');
      for (const token of [issued.access_token, issued.refresh_token ?? ''])
        expect(await introspect(own, token)).toMatchObject({
          active: true,
          client_id: own.clientId,
          sub: server.users.harbourOwner.user_id,
          exp: expect.any(Number),
        });
    },
  );

  it('returns {"active": false} to a resource server for a refresh token of another client, and audits it', async () => {
    expect(await introspect(resourceServer, tokens.refresh_token ?? '')).toEqual(inactive);
    await endGuessWindows(server); // writes the counted audit record
    expect(
      await auditRecords(server, { event: 'introspection_rejected', clientId: resourceServer.clientId }),
    ).toEqual([
      expect.objectContaining({
        details: {
          token: 'refresh_token',
          token_client_id: app.clientId,
          count: 1,
          since: expect.any(String),
        },
      }),
    ]);
  });

  it.each(['none', 'client_secret_basic', 'client_secret_post'])(
    'returns {"active": false} to a client that registered itself (%s) for the tokens of another client (§4)',
    async (token_endpoint_auth_method) => {
      const otherClient = await App.register(server, { token_endpoint_auth_method });
      expect(await introspect(otherClient, tokens.access_token)).toEqual(inactive);
      expect(await introspect(otherClient, tokens.refresh_token ?? '')).toEqual(inactive);
    },
  );

  it('returns {"active": false} to a confidential client of the operator that is not marked as a resource server', async () => {
    const { client_id, client_secret } = await createClient(
      server.database,
      { name: 'Reports', redirectUris: [], firstParty: false, confidential: true, resourceServer: false },
      server.secrets,
    );
    const reports = await App.ofClient(server, { client_id, client_secret });
    expect(await introspect(reports, tokens.access_token)).toEqual(inactive);
  });

  it.each(['access_token', 'refresh_token', 'nonsense'])(
    'finds both kinds of token with the hint %s (§2.1)',
    async (token_type_hint) => {
      for (const token of [tokens.access_token, tokens.refresh_token ?? ''])
        expect(await introspect(app, token, { token_type_hint })).toMatchObject({ active: true });
    },
  );

  it.each([
    ['garbage', () => 'garbage'],
    // Its handle would exceed the limit of oidc-provider, 56 KiB.
    ['a long text with a dot', () => `a.${'b'.repeat(45_000)}`],
    ['three parts, the second without claims', () => 'eyJhbGciOiJFUzI1NiJ9.e30.x'],
    ['a header with a space', () => `${base64url.encode('{ "alg":"ES256"}')}.e30.x`],
    [
      'five parts, as an encrypted token has',
      () => `${base64url.encode('{"alg":"dir","enc":"A256GCM"}')}..a.b.c`,
    ],
    ['an ID token', () => tokens.id_token ?? ''],
    ['the id of a token', () => decodeJwt(tokens.access_token).jti ?? ''],
    ['a very long value', () => 'x'.repeat(20_000)],
  ])('returns only {"active": false} for %s (§2.2)', async (_, token) => {
    expect(await introspect(resourceServer, token())).toEqual(inactive);
  });

  it('responds with invalid_request without a token, and forbids storing the response', async () => {
    const response = await app.post('introspect', {});
    expect(response.status).toBe(400);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({ error: 'invalid_request' });
  });

  it.each(['token', 'token_type_hint'])(
    'responds with invalid_request to a repeated %s (RFC 6749 §3.2)',
    async (name) => {
      const body = new URLSearchParams({ client_id: app.clientId, token: tokens.access_token });
      for (const value of ['access_token', 'refresh_token']) body.append(name, value);
      const path = '/api/auth/oauth2/introspect';
      const response = await server.fetch(`${server.url}${path}`, { method: 'POST', body });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: 'invalid_request' });
    },
  );

  it('returns {"active": false} for expired tokens', async () => {
    const owner = await App.register(server);
    const { tokens: old } = await owner.signIn('offline_access');
    await expire(server, 'AccessToken', owner.clientId);
    await expire(server, 'RefreshToken', owner.clientId);
    expect(await introspect(owner, old.access_token)).toEqual(inactive);
    expect(await introspect(owner, old.refresh_token ?? '')).toEqual(inactive);
  });

  it('returns {"active": false} for a used refresh token', async () => {
    const { tokens: own } = await app.signIn('offline_access');
    await app.refresh(own.refresh_token ?? '');
    expect(await introspect(app, own.refresh_token ?? '')).toEqual(inactive);
  });

  describe('with HTTP Basic, where describeActiveToken responds for active access tokens (ADR 67)', () => {
    /** Returns the responses to both ways of sending the secret: HTTP Basic, and in the form. */
    const responses = (clientId: string, secret: string, token: string) => {
      const credentials = Buffer.from(`${clientId}:${encodeURIComponent(secret)}`).toString('base64');
      const posted = new URLSearchParams({ client_id: clientId, client_secret: secret, token });
      const requests = [
        { body: new URLSearchParams({ token }), headers: { authorization: `Basic ${credentials}` } },
        { body: posted },
      ];
      return Promise.all(
        requests.map(async (request) => {
          const path = `${server.url}/api/auth/oauth2/introspect`;
          const response = await server.fetch(path, { method: 'POST', ...request });
          const headers = Object.fromEntries(response.headers);
          for (const name of ['date', 'x-request-id']) delete headers[name];
          return { status: response.status, headers, body: await json(response) };
        }),
      );
    };

    it.each([
      ['an access token', () => tokens.access_token],
      ['a refresh token', () => tokens.refresh_token ?? ''],
      ['an access token with another signature', () => `${tokens.access_token.slice(0, -8)}AAAAAAAA`],
    ])('gives a resource server the same response for %s as with a posted secret', async (_, token) => {
      const { client_id, client_secret = '' } = server.clients.resourceServer;
      const [basic, posted] = await responses(client_id, client_secret, token());
      expect(basic).toEqual(posted);
      expect(basic?.status).toBe(200);
    });

    it('shows a client its own token, and no token of another client', async () => {
      const metadata = { token_endpoint_auth_method: 'client_secret_basic' };
      const { client_id, client_secret = '' } = await registerClient(server, metadata);
      const own = await App.ofClient(server, { client_id, client_secret });
      const { access_token } = (await own.signIn('openid')).tokens;
      const [basic, posted] = await responses(client_id, client_secret, access_token);
      expect(basic).toEqual(posted);
      expect(basic?.body).toMatchObject({ active: true, client_id });
      for (const { body } of await responses(client_id, client_secret, tokens.access_token))
        expect(body).toEqual(inactive);
    });

    it('returns {"active": false} immediately after the token or its family was revoked, its client was deleted, or it expired', async () => {
      const ending: ((owner: App, issued: client.TokenEndpointResponse) => Promise<unknown>)[] = [
        (owner, { access_token }) => client.tokenRevocation(owner.configuration, access_token),
        (owner, { refresh_token = '' }) => client.tokenRevocation(owner.configuration, refresh_token),
        ({ clientId }) => deleteClient(server.database, new Outbox(), () => Promise.resolve(), clientId),
        (owner) => expire(server, 'AccessToken', owner.clientId),
      ];
      for (const end of ending) {
        const owner = await App.register(server);
        const { tokens: issued } = await owner.signIn('offline_access');
        expect(await introspect(resourceServer, issued.access_token)).toMatchObject({ active: true });
        await end(owner, issued);
        expect(await introspect(resourceServer, issued.access_token)).toEqual(inactive);
      }
    });

    it.each([
      ['a secret that is followed by NUL', {}, '%00'],
      ['a body that only resembles a form', { 'content-type': 'text/plain; a=x-www-form-urlencoded' }, ''],
      ['two ways of client authentication', { 'oauth-client-attestation': 'e30.e30.c2ln' }, ''],
    ])('rejects %s, as oidc-provider does', async (_, headers, end) => {
      const { client_id, client_secret = '' } = server.clients.resourceServer;
      const credentials = `${client_id}:${encodeURIComponent(client_secret)}${end}`;
      const response = await server.fetch(`${server.url}/api/auth/oauth2/introspect`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
          'content-type': formType,
          ...headers,
        },
        body: `token=${tokens.access_token}`,
      });
      expect(response.status).toBe(400);
      expect(await json(response)).toMatchObject({ error: 'invalid_request' });
    });

    it('responds with 500 like oidc-provider when the stored secret cannot be opened', async () => {
      const { client_id } = await registerClient(server);
      await server.database.run(damageSecret, [client_id]);
      const [basic, posted] = await responses(client_id, 'any secret', tokens.access_token);
      expect(basic).toEqual(posted);
      expect(basic).toMatchObject({ status: 500, body: { error: 'server_error' } });
    });

    it('rejects a wrong secret with invalid_client', async () => {
      const { client_id } = server.clients.resourceServer;
      for (const { status, body } of await responses(client_id, 'a wrong secret', tokens.access_token)) {
        expect(status).toBe(401);
        expect(body).toMatchObject({ error: 'invalid_client' });
      }
    });
  });
});
