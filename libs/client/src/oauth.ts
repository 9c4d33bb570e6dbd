import * as oauth from 'oauth4webapi';
import { SignInRequiredError } from './errors.js';
import { Session, type Tokens, type TokenStore } from './session.js';
import { createTransport, type Send, type TransportOptions } from './transport.js';

export { ConnectionError, SignInRequiredError } from './errors.js';
export { memoryTokenStore, Session, type Tokens, type TokenStore } from './session.js';

export interface AppRegistration {
  /** Shown to the person who is asked for consent. */
  readonly name: string;
  /** HTTPS URLs, or loopback addresses of a native app, whose port does not matter (RFC 8252 §7.3). */
  readonly redirectUris: readonly string[];
}

export interface SignInRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  /** The session can be renewed if one of them is `offline_access`. */
  readonly scopes: readonly string[];
}

/** A sign-in that was started. Store it as JSON, only for this person, until the browser returns. */
export interface SignIn extends SignInRequest {
  /** Open it in the person's browser. */
  readonly url: string;
  /** The secret that proves that this program started the sign-in (PKCE). */
  readonly codeVerifier: string;
  readonly state: string;
}

export interface AuthorizationServerOptions extends Pick<
  TransportOptions,
  'fetch' | 'timeoutMs' | 'maxRetries' | 'wait' | 'random'
> {
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** The authorization server of a suite, for public clients: PKCE and rotating refresh tokens (OAuth 2.1). */
export class AuthorizationServer {
  readonly #metadata: oauth.AuthorizationServer;
  readonly #send: Send;
  readonly #now: () => number;

  private constructor(metadata: oauth.AuthorizationServer, send: Send, now: () => number) {
    this.#metadata = metadata;
    this.#send = send;
    this.#now = now;
  }

  /** Reads the metadata (RFC 8414). @param issuer e.g. `https://localhost:8443/api/auth` */
  static async discover(
    issuer: string,
    options: AuthorizationServerOptions = {},
  ): Promise<AuthorizationServer> {
    const send = createTransport(options);
    const url = new URL(issuer);
    const response = await oauth.discoveryRequest(url, { ...requestOptions(send, url), algorithm: 'oauth2' });
    const metadata = await oauth.processDiscoveryResponse(url, response);
    return new AuthorizationServer(metadata, send, options.now ?? Date.now);
  }

  /** Registers a public app (RFC 7591). Returns its `clientId`: register once, and keep it. */
  async register({ name, redirectUris }: AppRegistration): Promise<string> {
    const metadata = {
      client_name: name,
      redirect_uris: [...redirectUris],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    };
    const response = await oauth.dynamicClientRegistrationRequest(
      this.#metadata,
      metadata,
      this.#requestOptions(),
    );
    return (await oauth.processDynamicClientRegistrationResponse(response)).client_id;
  }

  /** Returns the URL to open in the person's browser, with what `finishSignIn` needs. Sends no request. */
  async startSignIn(request: SignInRequest): Promise<SignIn> {
    const codeVerifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(this.#metadata.authorization_endpoint ?? '');
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: request.clientId,
      redirect_uri: request.redirectUri,
      scope: request.scopes.join(' '),
      code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      state,
    }).toString();
    return { ...request, url: url.href, codeVerifier, state };
  }

  /**
   * Exchanges the code for tokens. @param callback the URL to which the browser returned
   * @throws oauth4webapi's AuthorizationResponseError if the person declined
   */
  async finishSignIn(signIn: SignIn, callback: string | URL): Promise<Tokens> {
    const client = { client_id: signIn.clientId };
    const parameters = oauth.validateAuthResponse(this.#metadata, client, new URL(callback), signIn.state);
    const response = await oauth.authorizationCodeGrantRequest(
      this.#metadata,
      client,
      oauth.None(),
      parameters,
      signIn.redirectUri,
      signIn.codeVerifier,
      this.#requestOptions(),
    );
    return this.#tokens(await oauth.processAuthorizationCodeResponse(this.#metadata, client, response));
  }

  /** @throws SignInRequiredError if the refresh token is expired, revoked or used */
  async refresh(clientId: string, refreshToken: string): Promise<Tokens> {
    const client = { client_id: clientId };
    const response = await oauth.refreshTokenGrantRequest(
      this.#metadata,
      client,
      oauth.None(),
      refreshToken,
      this.#requestOptions(),
    );
    try {
      return this.#tokens(await oauth.processRefreshTokenResponse(this.#metadata, client, response));
    } catch (error) {
      if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant')
        throw new SignInRequiredError('The session has ended.', { cause: error });
      throw error;
    }
  }

  /** Ends an access token, or with a refresh token the whole session (RFC 7009). */
  async revoke(clientId: string, token: string): Promise<void> {
    const client = { client_id: clientId };
    const response = await oauth.revocationRequest(
      this.#metadata,
      client,
      oauth.None(),
      token,
      this.#requestOptions(),
    );
    await oauth.processRevocationResponse(response);
  }

  /** Whether the server knows the app: false after the app was deleted, or a test suite was reset. */
  async isRegistered(clientId: string): Promise<boolean> {
    try {
      await this.revoke(clientId, 'unknown'); // an unknown token is no error (RFC 7009 §2.2)
      return true;
    } catch (error) {
      if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_client') return false;
      throw error;
    }
  }

  /** Returns a session that renews its tokens at this server, to be used as `auth` of a client. */
  session(clientId: string, store: TokenStore): Session {
    return new Session({
      store,
      refresh: (refreshToken) => this.refresh(clientId, refreshToken),
      lockName: `${this.#metadata.issuer} ${clientId}`,
      now: this.#now,
    });
  }

  #tokens(response: oauth.TokenEndpointResponse): Tokens {
    return {
      accessToken: response.access_token,
      expiresAtMs: response.expires_in === undefined ? undefined : this.#now() + response.expires_in * 1000,
      refreshToken: response.refresh_token,
    };
  }

  #requestOptions(): ReturnType<typeof requestOptions> {
    return requestOptions(this.#send, new URL(this.#metadata.issuer));
  }
}

/** Gives oauth4webapi's requests our timeouts and retries. A POST is retried only after `Retry-After`. */
function requestOptions(send: Send, issuer: URL) {
  return {
    [oauth.customFetch]: (url: string, init: RequestInit): Promise<Response> => send(new Request(url, init)),
    // Only for a development server without TLS on this machine.
    [oauth.allowInsecureRequests]: ['127.0.0.1', '[::1]', 'localhost'].includes(issuer.hostname),
  };
}
