import { createHash, randomBytes } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';

/** Our own pages are a client like any other: whoever opens one without a session signs in as to an app. No other client may have this id. */
export const accountClientId = 'account';

export const accountClientName = 'Your account';

/** Where the browser comes back to. */
export const signedInPath = '/account/signed-in';

export function accountClient(authUrl: string): ClientMetadata {
  return {
    client_id: accountClientId,
    client_name: accountClientName,
    redirect_uris: [new URL(signedInPath, authUrl).href],
    post_logout_redirect_uris: [],
    response_types: ['code'],
    grant_types: ['authorization_code'],
    token_endpoint_auth_method: 'none',
    scope: 'openid',
    first_party: true,
  };
}

/**
 * Where somebody signs in to come back to a page. The code that comes back is thrown away: the session is what counts, so the
 * verifier is known to nobody. @param state the page
 */
export function signInAddress(issuer: string, authUrl: string, state: string): string {
  const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: accountClientId,
    redirect_uri: new URL(signedInPath, authUrl).href,
    scope: 'openid',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state,
  });
  return `${issuer}/oauth2/authorize?${query.toString()}`;
}
