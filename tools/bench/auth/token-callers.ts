import { Pool } from 'undici';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import type { Caller } from '../rounds.ts';

const refreshed = z.object({ access_token: z.string(), refresh_token: z.string() });
const introspected = z.object({ active: z.literal(true) });
/** Number of the newest access tokens of each family that are introspected in rotation. All are valid. */
const introspectedTokenCount = 64;

/** An authorization server, with the clients and tokens for refreshes and introspections. */
export interface TokenServer {
  readonly origin: string;
  readonly paths: { readonly token: string; readonly introspection: string };
  readonly clientId: string;
  readonly resourceServer: { readonly client_id: string; readonly client_secret: string };
  /** One for each caller, each from a different token family. */
  readonly refreshTokens: readonly string[];
}

/**
 * For each token family, a caller that refreshes it, and one that introspects the access tokens of these
 * refreshes. So measure refreshes first.
 */
export class TokenCallers {
  readonly refresh: readonly Caller[];
  readonly introspect: readonly Caller[];
  private readonly server: TokenServer;
  private readonly pool: Pool;

  constructor(server: TokenServer) {
    this.server = server;
    this.pool = new Pool(server.origin, { connections: server.refreshTokens.length });
    const callers = server.refreshTokens.map((token) => this.callersOf(token));
    this.refresh = callers.map(({ refresh }) => refresh);
    this.introspect = callers.map(({ introspect }) => introspect);
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  /** The callers of one token family. */
  private callersOf(firstRefreshToken: string): { refresh: Caller; introspect: Caller } {
    const { paths, clientId, resourceServer } = this.server;
    const accessTokens: string[] = [];
    let refreshToken = firstRefreshToken;
    let introspections = 0;
    const { client_id, client_secret } = resourceServer;
    const authorization = `Basic ${Buffer.from(`${encodeURIComponent(client_id)}:${encodeURIComponent(client_secret)}`).toString('base64')}`;
    return {
      refresh: async () => {
        const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken };
        const tokens = refreshed.parse(await this.post(paths.token, form));
        refreshToken = tokens.refresh_token;
        accessTokens.push(tokens.access_token);
        if (accessTokens.length > introspectedTokenCount) accessTokens.shift();
      },
      introspect: async () => {
        introspections += 1;
        const token = accessTokens[introspections % accessTokens.length] ?? '';
        introspected.parse(await this.post(paths.introspection, { token }, { authorization }));
      },
    };
  }

  private async post(
    path: string,
    form: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<unknown> {
    const { statusCode, body } = await this.pool.request({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(form).toString(),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Failure(`${path} responded with ${statusCode}: ${text.slice(0, 300)}`);
    return JSON.parse(text);
  }
}
