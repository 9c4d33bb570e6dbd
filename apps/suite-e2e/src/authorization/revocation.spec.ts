import { eventually } from '@fulfilment/testing';
import { ApiClient, send } from '../suite/api-client.js';
import { type Merchant, newMerchant } from '../suite/merchant.js';
import { type App, AuthorizationRequest, dashboard, signIn, tokenRequest } from '../suite/sign-in.js';
import { suite } from '../suite/the-suite.js';
import { ThirdPartyApp } from '../suite/third-party-app.js';

const scopes = ['openid', 'releases:read', 'webhooks:read'];
const offlineScopes = [...scopes, 'offline_access'];
/** Longer than the documented second, which libs/http-service tests, since the machine may be busy. */
const rejectionTimeoutMs = 10_000;
/** The Creator API accepts only first-party tokens. */
const thirdPartyPaths = ['/store/v1/releases', '/store/v1/webhooks', '/api/auth/oauth2/userinfo'];
const allPaths = [...thirdPartyPaths, '/creator/api/v1/creators'];

/**
 * Services reject a token within a second after it was revoked, or its browser session has ended
 * (docs/decisions.md).
 */
describe('an access token is soon rejected by every service that accepted it', () => {
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await newMerchant();
  });

  const introspect = async (token: string) => {
    const { client_id, client_secret } = suite.clients.resource_server;
    const { body } = await send('post', '/api/auth/oauth2/introspect')
      .type('form')
      .auth(client_id, client_secret)
      .send({ token })
      .expect(200);
    return body;
  };
  const revoke = (token: string, { clientId }: App = dashboard) =>
    send('post', '/api/auth/oauth2/revoke').type('form').send({ token, client_id: clientId }).expect(200);
  const refresh = (token: string) =>
    tokenRequest({ grant_type: 'refresh_token', refresh_token: token, client_id: dashboard.clientId });

  /** After this, every service has cached the token: the hardest case for its revocation. */
  const expectAccepted = async (token: string, paths = allPaths) => {
    for (const path of paths) await new ApiClient(token).get(path).expect(200);
    expect(await introspect(token)).toMatchObject({ active: true });
  };
  const expectSoonRejected = async (token: string, paths = allPaths) => {
    await Promise.all([
      ...paths.map((path) =>
        eventually(
          async () => {
            const { status, headers } = await new ApiClient(token).get(path);
            expect([200, 401, 503]).toContain(status); // 503: a dependency responds too late
            if (status === 401) expect(headers['www-authenticate']).toContain('error="invalid_token"');
            return status === 401;
          },
          { timeoutMs: rejectionTimeoutMs, describe: () => `${path} still accepts the token` },
        ),
      ),
      eventually(async () => (await introspect(token)).active === false, { timeoutMs: rejectionTimeoutMs }),
    ]);
  };

  it('after its revocation (RFC 7009)', async () => {
    const { access_token: token } = await signIn(merchant.owner, dashboard, scopes);
    await expectAccepted(token);
    await revoke(token);
    await expectSoonRejected(token);
  });

  it('after the revocation of its refresh token (RFC 7009 §2.1)', async () => {
    const first = await signIn(merchant.owner, dashboard, offlineScopes);
    await expectAccepted(first.access_token);
    await revoke(first.refresh_token ?? '');
    await expectSoonRejected(first.access_token);
  });

  it('after a refresh token of its family was reused (RFC 9700 §4.14.2)', async () => {
    const first = await signIn(merchant.owner, dashboard, offlineScopes);
    const second = await refresh(first.refresh_token ?? '').expect(200);
    const tokens: string[] = [first.access_token, second.body.access_token];
    for (const token of tokens) await expectAccepted(token);
    expect(second.body.refresh_token).not.toBe(first.refresh_token);
    await refresh(first.refresh_token ?? '').expect(400);
    for (const token of tokens) await expectSoonRejected(token);
    await refresh(second.body.refresh_token).expect(400); // the family has ended
  });

  it('after the user signed out, if it is bound to the session (RP-Initiated Logout)', async () => {
    const authorization = new AuthorizationRequest(dashboard, scopes);
    const redirect = await authorization.submitForm(await authorization.open(), { ...merchant.owner });
    const code = redirect.url.searchParams.get('code') ?? '';
    const { body } = await authorization.exchange(code).expect(200);
    const token: string = body.access_token;
    const { access_token: elsewhere } = await signIn(merchant.owner, dashboard, scopes);
    await expectAccepted(token);
    const page = await authorization.browser.get(`${suite.auth_url}/api/auth/oauth2/end-session`);
    expect((await authorization.submitForm(page, { logout: 'yes' })).text).toContain('Signed out');
    await expectSoonRejected(token);
    await expectAccepted(elsewhere); // the session of another browser
  });

  it('after the deletion of its client (RFC 7592 §2.3)', async () => {
    const app = await ThirdPartyApp.register();
    const { access_token: token } = await app.connect(merchant.owner, offlineScopes);
    await expectAccepted(token, thirdPartyPaths);
    await app.unregister();
    await expectSoonRejected(token, thirdPartyPaths);
  });

  it('but not after a revocation by another client, or of a token that does not exist (RFC 7009 §2.2)', async () => {
    const { access_token: token } = await signIn(merchant.owner, dashboard, scopes);
    await revoke('garbage');
    await revoke(token, merchant.app);
    await expectAccepted(token);
  });
});
