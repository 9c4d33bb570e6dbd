import { AuthorizationServer, type Tokens } from '@fulfilment/client/oauth';
import { fetchTrusting } from './api.ts';
import { authorizationCodeFlow } from './authorization.ts';

const redirectUri = 'https://merch-sync.example/callback';

/** Registers a public client (RFC 7591). Returns its id, and a function that requests a person's consent. */
export async function registerApp(authUrl: string, ca: string) {
  const server = await AuthorizationServer.discover(`${authUrl}/api/auth`, { fetch: fetchTrusting(ca) });
  const clientId = await server.register({ name: 'Merch Sync', redirectUris: [redirectUri] });
  const authorize = (
    { email, password }: { readonly email: string; readonly password: string },
    scopes: readonly string[],
  ): Promise<Tokens> =>
    authorizationCodeFlow(authUrl, ca, { clientId, redirectUri, scopes, email, password });
  return { clientId, authorize };
}
