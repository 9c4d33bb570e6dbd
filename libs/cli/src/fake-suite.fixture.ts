import { listen } from '@fulfilment/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { FeedEvent } from './listen/forward.js';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Respond = (request: ReceivedRequest, response: ServerResponse) => void;

export interface LocalServer {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a server on 127.0.0.1; by default at a free port. */
export async function serve(respond: Respond, port = 0): Promise<LocalServer> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url = '/', headers } = request;
      respond({ method, url: new URL(url, 'http://suite'), headers, body }, response);
    });
  });
  const { port: bound, close: stop } = await listen(server, port);
  return { url: `http://127.0.0.1:${bound}`, port: bound, stop };
}

/**
 * A fake of the suite for the CLI. Its feed has pages of two events; a position is the number of events
 * before it. The access token `valid` is accepted, and one refresh token at a time.
 */
export class FakeSuite {
  readonly events: FeedEvent[] = [];
  /** The refresh tokens that were sent. */
  readonly refreshes: string[] = [];
  /** The paths of all requests. */
  readonly requests: string[] = [];
  /** Positions before this one are rejected as no longer valid. */
  oldestValid = 0;
  /** The only registered app. */
  clientId = 'app';
  /** The tokens that were revoked. */
  readonly revoked: string[] = [];
  /** The feed responds with 503. */
  isFeedDown = false;
  private refreshToken = 'refresh-0';
  private readonly waiting = new Set<() => void>();

  static async start(): Promise<FakeSuite & LocalServer> {
    const suite = new FakeSuite();
    return Object.assign(suite, await serve((request, response) => suite.respond(request, response)));
  }

  /** Adds events to the feed, and responds to the requests that wait for one. */
  publish(...events: readonly FeedEvent[]): void {
    this.events.push(...events);
    for (const respond of [...this.waiting]) respond();
  }

  private respond({ url, headers, body }: ReceivedRequest, response: ServerResponse): void {
    const json = (status: number, content: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
    };
    this.requests.push(url.pathname);
    const origin = `http://${headers.host}`;
    const error = (statusCode: number, code: string, details: object[] = []): void =>
      json(statusCode, { statusCode, code, error: 'Error', message: 'It failed.', details });
    if (url.pathname === '/.well-known/oauth-authorization-server/api/auth')
      return json(200, {
        issuer: `${origin}/api/auth`,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        revocation_endpoint: `${origin}/revoke`,
      });
    if (url.pathname === '/register') return json(201, { client_id: this.clientId });
    if (url.pathname === '/revoke') {
      const form = new URLSearchParams(body);
      if (form.get('client_id') !== this.clientId) return json(401, { error: 'invalid_client' });
      this.revoked.push(form.get('token') ?? '');
      return json(200, {});
    }
    if (url.pathname === '/token') {
      const sentToken = new URLSearchParams(body).get('refresh_token') ?? '';
      this.refreshes.push(sentToken);
      if (sentToken !== this.refreshToken) return json(400, { error: 'invalid_grant' });
      this.refreshToken = `refresh-${this.refreshes.length}`;
      const tokens = { access_token: 'valid', token_type: 'Bearer', expires_in: 900 };
      return json(200, { ...tokens, refresh_token: this.refreshToken });
    }
    if (headers.authorization !== 'Bearer valid') return error(401, 'UNAUTHORIZED');
    if (url.pathname === '/store/v1/creator') return json(200, { id: 'cr_1', name: 'Harbour' });
    if (url.pathname !== '/store/v1/events') return error(404, 'NOT_FOUND');
    if (this.isFeedDown) return error(503, 'SERVICE_UNAVAILABLE');
    const after = Number(url.searchParams.get('after') ?? 0);
    if (after < this.oldestValid) return error(400, 'VALIDATION_ERROR', [{ field: 'after', reason: 'x' }]);
    const send = (): void => {
      this.waiting.delete(send);
      const data = this.events.slice(after, after + 2);
      const next = after + data.length;
      json(200, { data, next: String(next), has_more: next < this.events.length });
    };
    if (this.events.length > after || url.searchParams.get('wait') === '0') return send();
    this.waiting.add(send);
    response.once('close', () => this.waiting.delete(send));
  }
}

export function temporaryDir(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'fulfilment-cli-'));
  return { path, remove: () => rmSync(path, { recursive: true }) };
}
