import * as client from 'openid-client';
import { ApiClient } from '../suite/api-client.js';
import { type Merchant, newMerchant } from '../suite/merchant.js';
import { suite } from '../suite/the-suite.js';
import { ThirdPartyApp } from '../suite/third-party-app.js';

/** Tests with openid-client, which knows only the RFCs and the metadata. */
describe('a third-party relying party', () => {
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await newMerchant();
  });
  const scopes = ['openid', 'email', 'offline_access', 'releases:read'];

  it('needs only the standards, from discovery to revocation (RFC 8414, 7591, 7636, 7662, 7009)', async () => {
    const app = await ThirdPartyApp.register();
    const { configuration } = app;
    expect(configuration.serverMetadata().issuer).toBe(`${suite.auth_url}/api/auth`);
    const tokens = await app.connect(merchant.owner, scopes);
    expect(tokens.claims()).toMatchObject({ iss: `${suite.auth_url}/api/auth`, sub: expect.any(String) });
    const subject = tokens.claims()?.sub ?? '';
    const person = await client.fetchUserInfo(configuration, tokens.access_token, subject);
    expect(person).toMatchObject({ sub: subject, email: merchant.owner.email });
    await new ApiClient(tokens.access_token).get('/store/v1/releases').expect(200);
    await new ApiClient(tokens.access_token).get('/creator/api/v1/creators').expect(401); // another audience

    const next = await client.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
    await new ApiClient(next.access_token).get('/store/v1/releases').expect(200);
    expect(await client.tokenIntrospection(configuration, next.access_token)).toMatchObject({
      active: true,
      sub: subject,
      client_id: configuration.clientMetadata().client_id,
      aud: [`${suite.base_url}/store`],
    });
    await client.tokenRevocation(configuration, next.refresh_token ?? '');
    expect(await client.tokenIntrospection(configuration, next.access_token)).toEqual({ active: false });
  });

  it('may be confidential, with a client secret (RFC 6749 §2.3.1)', async () => {
    const app = await ThirdPartyApp.register({ token_endpoint_auth_method: 'client_secret_post' });
    expect(app.configuration.clientMetadata().client_secret).toEqual(expect.any(String));
    const tokens = await app.connect(merchant.owner, scopes);
    const next = await client.refreshTokenGrant(app.configuration, tokens.refresh_token ?? '');
    expect(next.refresh_token).not.toBe(tokens.refresh_token);
  });

  it('uses tokens bound to its key at the APIs, which reject them as bearer tokens (RFC 9449 §7)', async () => {
    const app = await ThirdPartyApp.register();
    const DPoP = client.getDPoPHandle(app.configuration, await client.randomDPoPKeyPair('ES256'));
    const { token_type: type, access_token: token } = await app.connect(merchant.owner, scopes, { DPoP });
    expect(type).toBe('dpop');
    const fetchReleases = (options: client.DPoPOptions) =>
      client.fetchProtectedResource(
        app.configuration,
        token,
        new URL(`${suite.base_url}/store/v1/releases`),
        'GET',
        undefined,
        undefined,
        options,
      );
    expect((await fetchReleases({ DPoP })).status).toBe(200);
    const otherKey = client.getDPoPHandle(app.configuration, await client.randomDPoPKeyPair('ES256'));
    await expect(fetchReleases({ DPoP: otherKey })).rejects.toMatchObject({ status: 401 });
    for (const path of ['/store/v1/releases', '/store/v1/webhooks'])
      await new ApiClient(token).get(path).expect(401);
  });
});
