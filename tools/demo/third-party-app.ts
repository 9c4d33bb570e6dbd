import { AuthorizationServer, type Tokens } from '@fulfilment/client/oauth';
import { fetchTrusting } from './api.ts';
import { authorizationCodeFlow } from './authorization.ts';

const redirectUri = 'https://merch-sync.example/callback';

/** A public client that registers itself (RFC 7591) and requests access from a person. */
export class ThirdPartyApp {
  private readonly authUrl: string;
  private readonly ca: string;
  private clientId = '';

  constructor(authUrl: string, ca: string) {
    this.authUrl = authUrl;
    this.ca = ca;
  }

  /** Returns the id of the client. */
  async register(): Promise<string> {
    const server = await AuthorizationServer.discover(`${this.authUrl}/api/auth`, {
      fetch: fetchTrusting(this.ca),
    });
    this.clientId = await server.register({ name: 'Merch Sync', redirectUris: [redirectUri] });
    return this.clientId;
  }

  authorize(email: string, password: string, scopes: readonly string[]): Promise<Tokens> {
    return authorizationCodeFlow(this.authUrl, this.ca, {
      clientId: this.clientId,
      redirectUri,
      scopes,
      email,
      password,
    });
  }
}
