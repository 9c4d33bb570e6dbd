import { AuthorizationServer, memoryTokenStore, SignInRequiredError } from '@fulfilment/client/oauth';
import { ApiError, createStoreClient, listOrders, readConnectedCreator } from '@fulfilment/client/store';
import { eventually } from '@fulfilment/testing';
import { FormBrowser, signInAndConsent } from '@fulfilment/testing/form-browser';
import { demoUser, suite } from '../suite/the-suite.js';
import { fetchFromSuite } from '../suite/fetch-from-suite.js';

const harbour = demoUser('owner@harbour.example');
const redirectUri = 'https://merch-sync.example/callback';

describe('the client', () => {
  it('renews an expired token once for concurrent requests, reports a missing scope, and requires a sign-in after revocation', async () => {
    const server = await AuthorizationServer.discover(`${suite.auth_url}/api/auth`, {
      fetch: fetchFromSuite,
    });
    const clientId = await server.register({ name: 'Merch Sync', redirectUris: [redirectUri] });
    const scopes = ['openid', 'offline_access', 'creator:read'];
    const signIn = await server.startSignIn({ clientId, redirectUri, scopes });
    const browser = new FormBrowser({ url: suite.auth_url, fetch: fetchFromSuite });
    const tokens = await server.finishSignIn(
      signIn,
      (await signInAndConsent(browser, signIn.url, harbour)).url,
    );
    const store = memoryTokenStore({ ...tokens, accessToken: 'expired' });
    const client = createStoreClient({
      baseUrl: `${suite.base_url}/store`,
      auth: server.session(clientId, store),
      fetch: fetchFromSuite,
    });
    // A second refresh with the same refresh token would end the session.
    const [first, second] = await Promise.all([1, 2].map(() => readConnectedCreator({ client })));
    expect(first?.data).toEqual(second?.data);
    const denied = await listOrders({ client, throwOnError: false });
    expect(denied.error).toBeInstanceOf(ApiError);
    expect(denied.error).toMatchObject({ code: 'FORBIDDEN', requestId: expect.any(String) });

    const renewed = await store.load();
    expect(renewed?.refreshToken).not.toBe(tokens.refreshToken);
    await server.revoke(clientId, renewed?.refreshToken ?? '');
    await expect(
      // Repeats the request until it fails, since a revocation takes up to a second.
      eventually(() => readConnectedCreator({ client }).then(() => undefined)),
    ).rejects.toThrow(SignInRequiredError);
  });
});
