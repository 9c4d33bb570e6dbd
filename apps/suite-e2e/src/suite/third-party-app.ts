import * as client from 'openid-client';
import { z } from 'zod';
import { fetchFromSuite } from './fetch-from-suite.js';
import { AuthorizationRequest } from './sign-in.js';
import { suite, type User } from './the-suite.js';

const redirectUri = 'https://merch-sync.example/callback';
const registration = z.looseObject({
  registration_client_uri: z.url(),
  registration_access_token: z.string(),
});

/** A third-party app: openid-client as a relying party that registered itself. */
export class ThirdPartyApp {
  private constructor(readonly configuration: client.Configuration) {}

  /** Discovers the authorization server and registers there (RFC 8414, RFC 7591). */
  static async register(metadata: Partial<client.ClientMetadata> = {}): Promise<ThirdPartyApp> {
    const configuration = await client.dynamicClientRegistration(
      new URL(`${suite.auth_url}/api/auth`),
      {
        client_name: 'Merch Sync',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        id_token_signed_response_alg: 'ES256',
        ...metadata,
      },
      metadata.token_endpoint_auth_method === undefined ? client.None() : undefined, // a public client by default
      { [client.customFetch]: fetchFromSuite },
    );
    return new ThirdPartyApp(configuration);
  }

  /** The person signs in and consents; the app exchanges the code and checks state, nonce and issuer. */
  async connect(user: User, scopes: readonly string[], options: client.AuthorizationCodeGrantOptions = {}) {
    const nonce = client.randomNonce();
    const { client_id: clientId } = this.configuration.clientMetadata();
    const authorization = new AuthorizationRequest({ clientId, redirectUri }, scopes, { nonce });
    const redirect = await authorization.approve(user);
    const checks = {
      pkceCodeVerifier: authorization.verifier,
      expectedState: authorization.state,
      expectedNonce: nonce,
    };
    return client.authorizationCodeGrant(this.configuration, redirect, checks, undefined, options);
  }

  /** Deletes its registration (RFC 7592 §2.3). */
  async unregister(): Promise<void> {
    const { registration_client_uri: url, registration_access_token: token } = registration.parse(
      this.configuration.clientMetadata(),
    );
    const headers = { authorization: `Bearer ${token}` };
    const { status } = await fetchFromSuite(url, { method: 'DELETE', headers });
    if (status !== 204) throw new Error(`The deletion of the client returned ${status}.`);
  }
}
