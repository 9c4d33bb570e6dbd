import { FormBrowser, type Page, signInAndConsent } from '@fulfilment/testing/form-browser';
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { send } from './api-client.js';
import { fetchFromSuite } from './fetch-from-suite.js';
import { suite, type User } from './the-suite.js';

export interface App {
  readonly clientId: string;
  readonly redirectUri: string;
}

const tokensSchema = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.number(),
  scope: z.string().optional(),
  refresh_token: z.string().optional(),
  id_token: z.string().optional(),
});
export type Tokens = z.infer<typeof tokensSchema>;

export const dashboard: App = {
  clientId: suite.clients.dashboard.client_id,
  redirectUri: suite.clients.dashboard.redirect_uri,
};

/** One authorization request, with its PKCE verifier and state. */
export class AuthorizationRequest {
  readonly verifier = randomBytes(48).toString('base64url');
  readonly state = randomBytes(12).toString('base64url');
  readonly browser = new FormBrowser({ url: suite.auth_url, fetch: fetchFromSuite });

  constructor(
    readonly app: App,
    readonly scopes: readonly string[],
    private readonly extraParameters: Readonly<Record<string, string>> = {},
  ) {}

  /** Returns the URL that the user opens. `parameters` override the defaults. */
  url(parameters: Readonly<Record<string, string>> = {}): string {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: this.app.clientId,
      redirect_uri: this.app.redirectUri,
      scope: this.scopes.join(' '),
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: this.state,
      ...this.extraParameters,
      ...parameters,
    });
    return `${suite.auth_url}/api/auth/oauth2/authorize?${query.toString()}`;
  }

  open(parameters: Readonly<Record<string, string>> = {}): Promise<Page> {
    return this.browser.get(this.url(parameters));
  }

  /** Submits the first form of the page, which continues the sign-in. */
  submitForm(page: Page, values: Readonly<Record<string, string>> = {}): Promise<Page> {
    const [form] = page.forms;
    if (form === undefined) throw new Error(`${page.url.href} responded with ${page.status} without a form.`);
    return this.browser.submit(form, values);
  }

  /** Signs in, and consents if that is required. Returns the redirect URL. */
  async approve(user: User): Promise<URL> {
    return (await signInAndConsent(this.browser, this.url(), user)).url;
  }

  exchange(code: string) {
    return tokenRequest({
      grant_type: 'authorization_code',
      code,
      redirect_uri: this.app.redirectUri,
      client_id: this.app.clientId,
      code_verifier: this.verifier,
    });
  }
}

export function tokenRequest(parameters: Readonly<Record<string, string>>) {
  return send('post', '/api/auth/oauth2/token').type('form').send(parameters);
}

/** Signs in, consents and exchanges the code. */
export async function signIn(user: User, app: App, scopes: readonly string[]): Promise<Tokens> {
  const authorization = new AuthorizationRequest(app, scopes);
  const redirect = await authorization.approve(user);
  const code = redirect.searchParams.get('code');
  if (code === null) throw new Error(`The redirect has no code: ${redirect.search}`);
  return tokensSchema.parse((await authorization.exchange(code).expect(200)).body);
}

/** Returns a first-party token for both APIs with the given scopes. */
export async function dashboardToken(user: User, scopes: readonly string[] = []): Promise<string> {
  return (await signIn(user, dashboard, ['openid', ...scopes])).access_token;
}
