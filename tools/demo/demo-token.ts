import { readFileSync } from 'node:fs';
import { Failure } from '../dev/failure.ts';
import type { Stack } from '../dev/state/stack-file.ts';
import { authorizationCodeFlow } from './authorization.ts';

interface TokenRequest {
  readonly email: string;
  /** Required unless it is a demo account. */
  readonly password?: string;
  readonly scopes: readonly string[];
  /** Id of the client; by default the dashboard. */
  readonly client?: string;
  readonly redirectUri?: string;
}

/** Obtains an access token through the sign-in pages. @throws Failure */
export async function demoToken(stack: Stack, request: TokenRequest): Promise<string> {
  const { dashboard } = stack.clients;
  const password = request.password ?? stack.users.find(({ email }) => email === request.email)?.password;
  if (password === undefined) throw new Failure(`${request.email} is no demo account: give its --password.`);
  const tokens = await authorizationCodeFlow(stack.auth_url, readFileSync(stack.ca_file, 'utf8'), {
    clientId: request.client ?? dashboard.client_id,
    redirectUri: request.redirectUri ?? dashboard.redirect_uri,
    scopes: request.scopes,
    email: request.email,
    password,
  });
  return tokens.accessToken;
}
