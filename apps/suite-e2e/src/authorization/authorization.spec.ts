import { ApiClient, send } from '../suite/api-client.js';
import { errorOf } from '../suite/error-envelope.js';
import { type Merchant, newMerchant } from '../suite/merchant.js';
import { AuthorizationRequest, dashboard, signIn } from '../suite/sign-in.js';
import { suite } from '../suite/the-suite.js';

const issuer = `${suite.auth_url}/api/auth`;
const endpoint = (path: string) => `${issuer}/oauth2/${path}`;

describe('the authorization server', () => {
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await newMerchant();
  });

  const introspect = (token: string) =>
    send('post', '/api/auth/oauth2/introspect')
      .type('form')
      .auth(suite.clients.resource_server.client_id, suite.clients.resource_server.client_secret)
      .send({ token });

  it.each(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server/api/auth'])(
    'publishes its metadata at %s',
    async (path) => {
      const { body } = await send('get', path).expect(200);
      expect(body).toMatchObject({
        issuer,
        authorization_endpoint: endpoint('authorize'),
        token_endpoint: endpoint('token'),
        registration_endpoint: endpoint('register'),
        userinfo_endpoint: endpoint('userinfo'),
        introspection_endpoint: endpoint('introspect'),
        revocation_endpoint: endpoint('revoke'),
        jwks_uri: `${issuer}/jwks`,
        code_challenge_methods_supported: ['S256'],
        response_types_supported: ['code'],
        authorization_response_iss_parameter_supported: true,
      });
    },
  );

  it('publishes only public keys', async () => {
    const { body } = await send('get', '/api/auth/jwks').expect(200);
    expect(body.keys).toContainEqual(expect.objectContaining({ kty: 'EC', crv: 'P-256', alg: 'ES256' }));
    for (const key of body.keys) {
      expect(key).toMatchObject({ kid: expect.any(String), use: 'sig' });
      for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key[secret]).toBeUndefined();
    }
  });

  it('allows an app to register itself, but never as a first-party app', async () => {
    const redirectUri = 'https://merch-sync.example/callback';
    const register = (metadata: object) =>
      send('post', '/api/auth/oauth2/register').send({
        client_name: 'Merch Sync',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        ...metadata,
      });
    expect((await register({ first_party: true }).expect(400)).body.error).toBe('invalid_client_metadata');
    const { body } = await register({}).expect(201);
    expect(body).toMatchObject({
      client_id: expect.any(String),
      client_name: 'Merch Sync',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
    });
    expect(body.client_secret).toBeUndefined();
    expect(body.first_party).toBeUndefined();
    const tokens = await signIn(merchant.owner, { clientId: body.client_id, redirectUri }, ['releases:read']);
    const client = new ApiClient(tokens.access_token);
    await client.get('/store/v1/releases').expect(200);
    await client.get('/creator/api/v1/creators').expect(401); // another audience
  });

  it('signs a person in, asks for consent, and redirects back with code, state and issuer', async () => {
    const authorization = new AuthorizationRequest(merchant.app, [
      'openid',
      'email',
      'orders:create',
      'releases:write',
    ]);
    const signInPage = await authorization.open();
    expect(signInPage.status).toBe(200);
    expect(signInPage.headers.get('content-security-policy')).toContain("default-src 'none'");
    const rejected = await authorization.submitForm(signInPage, {
      email: merchant.owner.email,
      password: 'wrong',
    });
    expect(rejected.status).toBe(401);
    expect(rejected.text).not.toContain('wrong"'); // the value of the password field
    const consent = await authorization.submitForm(rejected, { ...merchant.owner });
    expect(consent.text).toContain('Place fulfilment orders');
    expect(consent.text).toContain('your e-mail address');
    const redirect = (await authorization.submitForm(consent)).url;
    expect(redirect.origin + redirect.pathname).toBe(merchant.app.redirectUri);
    expect(redirect.searchParams.get('state')).toBe(authorization.state);
    expect(redirect.searchParams.get('iss')).toBe(issuer);
    const code = redirect.searchParams.get('code') ?? '';
    const tokens = await authorization.exchange(code).expect(200);
    expect(tokens.body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      id_token: expect.any(String),
    });
    expect(tokens.body.refresh_token).toBeUndefined();
    expect(tokens.get('cache-control')).toContain('no-store');
    // The code can be used once.
    expect((await authorization.exchange(code).expect(400)).body.error).toBe('invalid_grant');
  });

  it('does not redirect to an unregistered URI', async () => {
    const authorization = new AuthorizationRequest(merchant.app, ['releases:read']);
    const page = await authorization.open({ redirect_uri: `${merchant.app.redirectUri}/evil` });
    expect(page.status).toBe(400);
    expect(page.url.href).toContain(suite.auth_url);
  });

  it('returns the user info, and introspects tokens for a resource server', async () => {
    const tokens = await signIn(merchant.owner, merchant.app, ['openid', 'email', 'releases:read']);
    const userInfo = await new ApiClient(tokens.access_token).get('/api/auth/oauth2/userinfo').expect(200);
    expect(userInfo.body).toMatchObject({ sub: expect.any(String), email: merchant.owner.email });
    const introspection = await introspect(tokens.access_token).expect(200);
    expect(introspection.body).toMatchObject({
      active: true,
      client_id: merchant.app.clientId,
      sub: userInfo.body.sub,
      iss: issuer,
      org_id: merchant.organisationId,
      org_role: 'owner',
      creator_id: merchant.creator.uuid,
    });
    expect(introspection.body.scope.split(' ')).toContain('releases:read');
    expect((await introspect('garbage').expect(200)).body).toEqual({ active: false });
    const withWrongSecret = await introspect(tokens.access_token).auth(
      suite.clients.resource_server.client_id,
      'wrong',
    );
    expect(withWrongSecret.status).toBe(401);
    expect(withWrongSecret.body).toMatchObject({ error: 'invalid_client' });
  });

  it('issues ID and refresh tokens that the APIs reject, like changed access tokens (RFC 8725 §3)', async () => {
    const tokens = await signIn(merchant.owner, dashboard, ['openid', 'offline_access', 'releases:read']);
    const [header, payload = '', signature] = tokens.access_token.split('.');
    const claims: object = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const token of [
      tokens.id_token ?? '',
      tokens.refresh_token ?? '',
      `${header}.${part({ ...claims, org_role: 'global_admin' })}.${signature}`,
      `${part({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
    ]) {
      expect(token).not.toBe('');
      for (const path of ['/store/v1/releases', '/store/v1/webhooks', '/creator/api/v1/creators']) {
        const rejected = await new ApiClient(token).get(path).expect(401);
        expect(errorOf(rejected).code).toBe('UNAUTHORIZED');
        expect(rejected.headers['www-authenticate']).toContain('error="invalid_token"');
      }
    }
  });
});
