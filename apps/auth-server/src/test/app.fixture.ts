import { type Form, FormBrowser, formOf, type Page } from '@fulfilment/testing/form-browser';
import * as client from 'openid-client';
import { z } from 'zod';
import { firstPartyRedirect, type RunningServer } from './running-server.fixture.js';
import { password } from './users.fixture.js';

export const thirdPartyRedirect = 'https://app.example/callback';

const registrationResponse = z.looseObject({
  client_id: z.string(),
  client_secret: z.string().optional(),
  registration_access_token: z.string(),
  registration_client_uri: z.string(),
});

export async function parseRegistration(response: Response) {
  return registrationResponse.parse(await response.json());
}

const thirdPartyMetadata = {
  client_name: 'A third-party app',
  redirect_uris: [thirdPartyRedirect],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
};

/** Sends the registration request of a third-party app. */
export async function register(
  server: Pick<RunningServer, 'url' | 'fetch'>,
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<Response> {
  return server.fetch(`${server.url}/api/auth/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...thirdPartyMetadata, ...metadata }),
  });
}

/** Registers a third-party app, and returns its client. */
export async function registerClient(
  server: Pick<RunningServer, 'url' | 'fetch'>,
  metadata: Readonly<Record<string, unknown>> = {},
) {
  return parseRegistration(await register(server, metadata));
}

/**
 * Sends a request of a client about its own registration (RFC 7592).
 * @param metadata of a change, where it differs from that of `register`
 */
export function manageClient(
  server: Pick<RunningServer, 'fetch'>,
  method: 'GET' | 'PUT' | 'DELETE',
  client: {
    readonly client_id: string;
    readonly registration_client_uri: string;
    readonly registration_access_token: string | undefined;
  },
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<Response> {
  const { client_id, registration_client_uri, registration_access_token: token } = client;
  const headers = new Headers({ 'content-type': 'application/json' });
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const change = { client_id, ...thirdPartyMetadata, ...metadata };
  const body = method === 'PUT' ? JSON.stringify(change) : null;
  return server.fetch(registration_client_uri, { method, headers, body });
}

/** An app that signs people in, with openid-client as its relying party. */
export class App {
  private constructor(
    readonly configuration: client.Configuration,
    readonly clientId: string,
    readonly redirectUri: string,
    readonly server: RunningServer,
  ) {}

  /** Registers a third-party app. */
  static async register(
    server: RunningServer,
    metadata: Readonly<Record<string, unknown>> = {},
    redirectUri = thirdPartyRedirect,
  ): Promise<App> {
    const newClient = await registerClient(server, { redirect_uris: [redirectUri], ...metadata });
    return App.ofClient(server, newClient, redirectUri, metadata);
  }

  /** Returns the first-party app of `server.clients`. */
  static dashboard(server: RunningServer): Promise<App> {
    return App.ofClient(server, server.clients.dashboard, firstPartyRedirect);
  }

  /** Returns the app of an existing client. @param metadata of its registration, for checks of ID tokens */
  static async ofClient(
    server: RunningServer,
    { client_id, client_secret }: { readonly client_id: string; readonly client_secret?: string | undefined },
    redirectUri = thirdPartyRedirect,
    metadata: Readonly<Record<string, unknown>> = {},
  ): Promise<App> {
    const { id_token_signed_response_alg = 'ES256' } = metadata;
    const configuration = await client.discovery(
      new URL(`${server.url}/api/auth`),
      client_id,
      { id_token_signed_response_alg: String(id_token_signed_response_alg) },
      client_secret === undefined ? client.None() : client.ClientSecretBasic(client_secret),
      { [client.customFetch]: server.fetch },
    );
    return new App(configuration, client_id, redirectUri, server);
  }

  /** Returns a new authorization URL, and the verifier and state that its response needs. */
  async request(scope: string, parameters: Readonly<Record<string, string>> = {}) {
    const verifier = client.randomPKCECodeVerifier();
    const state = client.randomState();
    const url = client.buildAuthorizationUrl(this.configuration, {
      redirect_uri: this.redirectUri,
      scope,
      state,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...parameters,
    });
    return { url: url.href, verifier, state };
  }

  /**
   * Signs in and consents if a page requires it. Returns the last page, the names of the submitted forms
   * (`steps`), and the token request for the code.
   */
  async authorize(
    scope: string,
    options: {
      readonly browser?: FormBrowser;
      readonly email?: string;
      readonly creator?: string;
      readonly parameters?: Readonly<Record<string, string>>;
    } = {},
  ) {
    const { url, verifier, state } = await this.request(scope, options.parameters);
    const browser = options.browser ?? new FormBrowser(this.server);
    let shown = await browser.get(url);
    const fields: Readonly<Record<'login' | 'consent', Readonly<Record<string, string>>>> = {
      login: { email: options.email ?? 'owner@harbour.example', password },
      consent: options.creator === undefined ? {} : { creator: options.creator },
    };
    const steps: string[] = [];
    for (const step of ['login', 'consent'] as const) {
      if (!hasForm(shown, step)) continue;
      steps.push(step);
      shown = await browser.submit(formOf(shown, `/${step}`), fields[step]);
    }
    const exchangeForm = {
      grant_type: 'authorization_code',
      code: shown.url.searchParams.get('code') ?? '',
      redirect_uri: this.redirectUri,
      code_verifier: verifier,
    };
    return { shown, browser, steps, verifier, state, exchangeForm };
  }

  /** Signs in, consents and exchanges the code for tokens. */
  async signIn(scope: string, options: Parameters<App['authorize']>[1] = {}) {
    const authorized = await this.authorize(scope, options);
    const tokens = await client.authorizationCodeGrant(this.configuration, authorized.shown.url, {
      pkceCodeVerifier: authorized.verifier,
      expectedState: authorized.state,
    });
    return { ...authorized, tokens };
  }

  refresh(refreshToken: string, parameters: Record<string, string> = {}) {
    return client.refreshTokenGrant(this.configuration, refreshToken, parameters);
  }

  /** Posts a form to an OAuth endpoint, without openid-client. */
  post(endpoint: string, form: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
    return this.server.fetch(`${this.server.url}/api/auth/oauth2/${endpoint}`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: this.clientId, ...form }),
      headers,
    });
  }
}

function hasForm(shown: Page, step: string): boolean {
  return shown.forms.some(({ action }) => action.endsWith(`/${step}`));
}

/** Returns the form that disconnects an app, on the page of the connected apps. */
export function disconnectFormOf(page: Page, app: App): Form {
  const form = page.forms.find(({ hidden }) => hidden['client_id'] === app.clientId);
  if (form === undefined) throw new Error(`The app ${app.clientId} is not on the page.`);
  return form;
}
