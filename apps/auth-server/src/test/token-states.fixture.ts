import { revokedTokenKey } from '@fulfilment/contracts';
import { decodeJwt } from 'jose';
import { tokenIntrospection } from 'openid-client';
import type { App } from './app.fixture.js';
import { server } from './server.fixture.js';

/** Whether introspection by the app shows a token as active. */
export async function isActive(app: App, token: string): Promise<boolean> {
  return (await tokenIntrospection(app.configuration, token)).active;
}

/** Whether an access token is on the deny list; false while Redis is unavailable. */
export async function isDenied(token: string): Promise<boolean> {
  const key = revokedTokenKey(String(decodeJwt(token).jti));
  return (await server.redis.client.exists(key).catch(() => 0)) === 1;
}

/** Sends an access token to UserInfo. */
export function fetchUserInfo(token: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` };
  return server.fetch(`${server.url}/api/auth/oauth2/userinfo`, { headers });
}
