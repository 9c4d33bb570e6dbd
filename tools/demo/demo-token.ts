import { readFileSync } from 'node:fs';
import { Failure } from '../dev/failure.ts';
import { readSettings } from '../dev/settings.ts';
import { readStack, type Stack } from '../dev/stack-file.ts';
import { authorizationCodeFlow } from './authorization.ts';

/** The suite of this state directory. @throws Failure when none runs */
export function runningStack(): Stack {
  const stack = readStack(readSettings().stateDir);
  if (stack === undefined) throw new Failure('No suite is running. Start one with: npm start');
  return stack;
}

export interface TokenWish {
  readonly email: string;
  /** Needed when it is no demo account's. */
  readonly password?: string;
  readonly scopes: readonly string[];
  /** The dashboard, unless another app is named. */
  readonly client?: string;
  readonly redirectUri?: string;
}

/** An access token, got as a person with a browser would get it. @throws Failure */
export async function demoToken(stack: Stack, wish: TokenWish): Promise<string> {
  const { dashboard } = stack.clients;
  const password = wish.password ?? stack.users.find(({ email }) => email === wish.email)?.password;
  if (password === undefined) throw new Failure(`${wish.email} is no demo account: give its --password.`);
  const tokens = await authorizationCodeFlow(stack.auth_url, readFileSync(stack.ca_file, 'utf8'), {
    clientId: wish.client ?? dashboard.client_id,
    redirectUri: wish.redirectUri ?? dashboard.redirect_uri,
    scopes: wish.scopes,
    email: wish.email,
    password,
  });
  return tokens.access_token;
}
