import { FormBrowser, signInAndConsent } from '@fulfilment/testing/form-browser';
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Failure } from '../dev/failure.ts';
import { send, agentTrusting } from './api.ts';
import { equal } from './steps.ts';

const tokenResponse = z.object({
  access_token: z.string(),
  expires_in: z.number(),
  refresh_token: z.string().optional(),
});
export type Tokens = z.infer<typeof tokenResponse>;

/**
 * Authorization code flow with PKCE (RFC 7636): signs in and consents with plain forms, and exchanges the
 * code.
 */
export async function authorizationCodeFlow(
  authUrl: string,
  ca: string | undefined,
  request: {
    readonly clientId: string;
    readonly redirectUri: string;
    readonly scopes: readonly string[];
    readonly email: string;
    readonly password: string;
  },
): Promise<Tokens> {
  const verifier = randomBytes(48).toString('base64url');
  const state = randomBytes(12).toString('base64url');
  const authorize = new URL(`${authUrl}/api/auth/oauth2/authorize`);
  authorize.search = new URLSearchParams({
    response_type: 'code',
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    scope: request.scopes.join(' '),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state,
  }).toString();
  const dispatcher = agentTrusting(ca);
  const browser = new FormBrowser({
    url: authUrl,
    fetch: (input, init) => fetch(input, { ...init, dispatcher }),
  });
  const { url: back, status } = await signInAndConsent(browser, authorize.href, request).catch(
    (error: Error) => {
      throw new Failure(`The sign-in at ${authUrl} failed: ${error.message}`);
    },
  );
  if (!back.href.startsWith(request.redirectUri))
    throw new Failure(
      `The authorization server did not redirect to ${request.redirectUri} (${status}). Check the client "${request.clientId}" and its redirect URI.`,
    );
  equal('state', back.searchParams.get('state'), state);
  const code = back.searchParams.get('code');
  if (code === null) {
    const reason = ['error', 'error_description'].map((name) => back.searchParams.get(name) ?? '').join(': ');
    throw new Failure(
      `The authorization server rejected the request (${reason}). Its scopes: ${request.scopes.join(' ')}`,
    );
  }
  const response = await send(`${authUrl}/api/auth/oauth2/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: request.redirectUri,
      client_id: request.clientId,
      code_verifier: verifier,
    }).toString(),
    dispatcher,
  });
  await dispatcher.close();
  equal('the status of the token endpoint', response.status, 200);
  return tokenResponse.parse(JSON.parse(response.body));
}
