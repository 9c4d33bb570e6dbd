import { z } from 'zod';
import { send, agentTrusting } from './api.ts';
import { authorizationCodeFlow, type Tokens } from './authorization.ts';
import { equal } from './steps.ts';

const redirectUri = 'https://merch-sync.example/callback';
const registered = z.object({ client_id: z.string() });

/** A public client that registers itself (RFC 7591) and asks a person for access. */
export class ThirdPartyApp {
  private readonly authUrl: string;
  private readonly ca: string;
  private clientId = '';

  constructor(authUrl: string, ca: string) {
    this.authUrl = authUrl;
    this.ca = ca;
  }

  async register(): Promise<{ status: number; clientId: string }> {
    const response = await send(`${this.authUrl}/api/auth/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Merch Sync',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
      }),
      dispatcher: agentTrusting(this.ca),
    });
    equal('the status of the registration', response.status, 201);
    this.clientId = registered.parse(JSON.parse(response.body)).client_id;
    return { status: response.status, clientId: this.clientId };
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
