import { eventually } from '@fulfilment/testing';
import { ApiClient, send } from './suite/api-client.js';
import { type Merchant, newMerchant } from './suite/merchant.js';
import { type App, Authorization, dashboard, signIn, tokenRequest } from './suite/sign-in.js';
import { suite } from './suite/the-suite.js';
import { closeConnections, ThirdPartyApp } from './suite/third-party-app.js';

const scopes = ['openid', 'releases:read', 'webhooks:read'];
const offline = [...scopes, 'offline_access'];
const withinMs = 1_000;
const storePaths = ['/store/v1/releases', '/store/v1/webhooks', '/api/auth/oauth2/userinfo'];
const allPaths = [...storePaths, '/creator/api/v1/creators'];

/** decisions.md: a revoked or logged-out token is refused by store-api, webhook-worker, creator-api and auth-server within a second. */
describe('a token that ended is refused by all four services within a second', () => {
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await newMerchant();
  });
  afterAll(() => closeConnections());

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

  /** Every service has seen the token and remembers it: the hardest case. */
  const isGoodAt = async (token: string, paths = allPaths) => {
    for (const path of paths) await new ApiClient(token).get(path).expect(200);
    expect(await introspect(token)).toMatchObject({ active: true });
  };
  const isRefusedSoon = async (token: string, paths = allPaths) => {
    await Promise.all([
      ...paths.map((path) =>
        eventually(
          async () => {
            const { status, headers } = await new ApiClient(token).get(path);
            expect([200, 401]).toContain(status);
            if (status === 401) expect(headers['www-authenticate']).toContain('error="invalid_token"');
            return status === 401 || undefined;
          },
          withinMs,
          () => `${path} still takes it`,
        ),
      ),
      eventually(async () => (await introspect(token)).active === false || undefined, withinMs),
    ]);
  };

  it('after it was revoked (RFC 7009)', async () => {
    const { access_token: token } = await signIn(merchant.owner, dashboard, scopes);
    await isGoodAt(token);
    await revoke(token);
    await isRefusedSoon(token);
  });

  it('after its refresh token was revoked (RFC 7009 §2.1)', async () => {
    const first = await signIn(merchant.owner, dashboard, offline);
    await isGoodAt(first.access_token);
    await revoke(first.refresh_token ?? '');
    await isRefusedSoon(first.access_token);
  });

  it('after a refresh token of its family was used a second time (RFC 9700 §4.14.2)', async () => {
    const first = await signIn(merchant.owner, dashboard, offline);
    const second = await refresh(first.refresh_token ?? '').expect(200);
    const tokens: string[] = [first.access_token, second.body.access_token];
    for (const token of tokens) await isGoodAt(token);
    await refresh(first.refresh_token ?? '').expect(400);
    for (const token of tokens) await isRefusedSoon(token);
  });

  it('after the person signed out, where it was bound to the session (RP-Initiated Logout)', async () => {
    const authorization = new Authorization(dashboard, scopes);
    const back = await authorization.goOn(await authorization.open(), { ...merchant.owner });
    const code = new URL(back.url).searchParams.get('code') ?? '';
    const { body } = await authorization.exchange(code).expect(200);
    const token: string = body.access_token;
    const { access_token: elsewhere } = await signIn(merchant.owner, dashboard, scopes);
    await isGoodAt(token);
    const page = await authorization.browser.open(`${suite.auth_url}/api/auth/oauth2/end-session`);
    expect((await authorization.goOn(page, { logout: 'yes' })).text).toContain('Signed out');
    await isRefusedSoon(token);
    await isGoodAt(elsewhere); // another browser's
    await authorization.browser.close();
  });

  it('after its client was deleted (RFC 7592 §2.3)', async () => {
    const app = await ThirdPartyApp.registered();
    const { access_token: token } = await app.connect(merchant.owner, offline);
    await isGoodAt(token, storePaths);
    await app.unregister();
    await isRefusedSoon(token, storePaths);
  });

  it('and nothing else: revoking garbage, or another client’s token, changes nothing (RFC 7009 §2.2)', async () => {
    const { access_token: token } = await signIn(merchant.owner, dashboard, scopes);
    await revoke('garbage');
    await revoke(token, merchant.app);
    await isGoodAt(token);
  });
});
