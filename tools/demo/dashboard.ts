import type { Stack } from '../dev/stack-file.ts';
import { authorizationCodeFlow } from './authorization.ts';

/** A first-party session token: no consent page, valid for both APIs. */
export async function dashboardToken(
  stack: Stack,
  user: { email: string; password: string },
  ca: string,
): Promise<string> {
  const { client_id: clientId, redirect_uri: redirectUri } = stack.clients.dashboard;
  const tokens = await authorizationCodeFlow(stack.auth_url, ca, {
    clientId,
    redirectUri,
    scopes: ['openid', 'profile'],
    email: user.email,
    password: user.password,
  });
  return tokens.access_token;
}
