import { issuer } from '@fulfilment/contracts';
import { createHash, randomBytes } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';

/** The account pages are an OAuth client, so people sign in as for any app. Its id is reserved. */
export const accountClientId = 'account';
export const accountClientName = 'Your account';

/** Path of the redirect URI. */
const signedInPath = '/account/signed-in';

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
 * URL of a sign-in that returns to an account page. The account pages only use the session and discard the
 * code, so the PKCE verifier is not kept.
 * @param state path of the page
 */
export function signInUrl(authUrl: string, state: string): string {
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
  return `${issuer(authUrl)}/oauth2/authorize?${query.toString()}`;
}
