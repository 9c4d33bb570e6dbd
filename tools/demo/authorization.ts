import { AuthorizationServer, type Tokens } from '@fulfilment/client/oauth';
import { FormBrowser, signInAndConsent } from '@fulfilment/testing/form-browser';
import { Failure } from '../dev/failure.ts';
import { fetchTrusting } from './api.ts';

interface PersonSignIn {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly email: string;
  readonly password: string;
}

/** Signs in and consents with plain forms, and exchanges the code. */
export async function authorizationCodeFlow(
  authUrl: string,
  ca: string | undefined,
  { email, password, ...request }: PersonSignIn,
): Promise<Tokens> {
  const fetch = fetchTrusting(ca);
  const server = await AuthorizationServer.discover(`${authUrl}/api/auth`, { fetch });
  const signIn = await server.startSignIn(request);
  const browser = new FormBrowser({ url: authUrl, fetch });
  const { url: redirect, status } = await signInAndConsent(browser, signIn.url, { email, password }).catch(
    (error: Error) => {
      throw new Failure(`The sign-in at ${authUrl} failed: ${error.message}${codeOfCause(error)}`);
    },
  );
  if (!redirect.href.startsWith(request.redirectUri))
    throw new Failure(
      `The authorization server did not redirect to ${request.redirectUri} (${status}). Check the password of ${email}, the client "${request.clientId}" and its redirect URI.`,
    );
  if (redirect.searchParams.get('error') !== null) {
    const reason = ['error', 'error_description']
      .map((name) => redirect.searchParams.get(name) ?? '')
      .join(': ');
    throw new Failure(
      `The authorization server rejected the request (${reason}). Requested scopes: ${request.scopes.join(' ')}`,
    );
  }
  return server.finishSignIn(signIn, redirect);
}

/** Returns the code of a network error, such as ECONNREFUSED, which `fetch failed` does not name. */
function codeOfCause({ cause }: Error): string {
  return cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
}
