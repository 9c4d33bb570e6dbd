import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import * as client from 'openid-client';
import { App } from './app.js';
import { firstPartyRedirect, runningServer, type RunningServer } from './running-server.js';

let server: RunningServer;
beforeAll(async () => {
  server = await runningServer();
});
afterAll(() => server.stop());

describe('the authorization code flow (RFC 6749 §4.1, RFC 7636)', () => {
  it('goes from registration to tokens that UserInfo, introspection and revocation take', async () => {
    const app = await App.registered(server);
    const { tokens, steps } = await app.signIn('openid profile email offline_access orders:read');
    expect(steps).toEqual(['login', 'consent']);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600 });
    expect(tokens.refresh_token).toEqual(expect.any(String));
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    const claims = decodeJwt(tokens.access_token);
    expect(claims).toMatchObject({
      iss: `${server.url}/api/auth`,
      sub: server.people.owner.user_id,
      aud: ['https://suite.example/store'],
      client_id: app.clientId,
      org_id: 'org_harbour',
      org_role: 'owner',
      creator_id: server.people.harbour.uuid,
    });
  });
});
void client;
void firstPartyRedirect;
