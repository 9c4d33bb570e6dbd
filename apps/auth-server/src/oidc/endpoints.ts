import { nameRoute, type RateLimiter, sendPlain } from '@fulfilment/http-service';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mountPath, routeOf } from '../requests/kinds-of-path.rules.js';
import { ClientQuotas, isClientEndpoint } from '../requests/client-quotas.js';
import { type AuthQuota, quotaOf, takeFromQuota } from '../requests/request-limits.js';
import { swapSignedToken } from './introspection-swap.js';
import type { OidcServer } from './oidc-server.js';
import { readTokenAhead } from './read-token-ahead.js';
import { envelopeAnswer, noSuchPath, refusalAt } from './refusals.js';
import { readBody } from './request-bodies.js';

/** Allowed spelling of a path: lower case in the first two segments, anything in the rest (ids). */
const spelling = /^\/[a-z0-9._-]+(\/[a-z0-9._-]+(\/[^/]+)*)?$/;
const registration = /^\/oauth2\/register(\/|$)/;

/** Answers what lies below the mount path: quota → path → body → oidc-provider. @param path of the request's url, below the mount path */
export type Endpoints = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void>;

/**
 * The life of a refresh, as an example of how a request goes through the files:
 * 1. mount.ts notes when it arrived (tokens/reuse.ts) and makes it one to the issuer.
 * 2. Here its quota is counted (requests/request-limits.ts), its form read (request-bodies.ts), and the token looked up ahead
 *    (read-token-ahead.ts): with its Grant and person, and the client, by one statement (tokens/stored-rows.ts).
 * 3. provider.ts is all that is wired into oidc-provider. inOneTransaction (around-requests.ts) begins a unit of work
 *    (tokens/unit-of-work.ts).
 * 4. oidc-provider checks client and token, by what tokens/adapter.ts finds, and whom it is for (find-account.ts). A token that was used
 *    before is a race or a replay (tokens/reuse.ts); a replay ends the family (tokens/families.ts).
 * 5. The access token is signed (access-tokens.ts, signing-key.ts). That the old refresh token is consumed, and the new tokens, the adapter
 *    only collects (tokens/token-writes.ts).
 * 6. Back in inOneTransaction the answer is held for those that were sent with it, then all is stored by one statement. Whoever finds
 *    the token consumed now was second, stores nothing, and is told `invalid_grant`.
 * 7. When the answer has left, the time is noted for every replica (tokens/sent-answers.ts).
 */
export function endpoints(oidc: OidcServer, limiter: RateLimiter<AuthQuota>): Endpoints {
  const swap = swapSignedToken((request, jti) => oidc.stored.readAhead(request, 'AccessToken', jti));
  const read = readTokenAhead((request, model, id) => oidc.stored.readAhead(request, model, id));
  const formChanges = new Map([
    ['/oauth2/introspect', swap],
    ['/oauth2/revoke', swap],
    ['/oauth2/token', read],
  ]);

  const clientQuotas = new ClientQuotas(limiter);

  /** Reads the body first, since it may name the client whose quota counts. Too many requests are rejected before too large bodies. */
  const handleOfClient = async (
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    quota: AuthQuota,
  ): Promise<void> => {
    const change = formChanges.get(path);
    let form: Buffer | undefined;
    const read = readBody(request, (_request, sent) => {
      form = sent;
      return change?.(request, sent) ?? sent;
    });
    await Promise.allSettled([read]);
    await clientQuotas.take(quota, request, form);
    await read;
    await oidc.handle(request, response);
    await clientQuotas.settle(quota, request);
  };

  return async (request, response, path) => {
    nameRoute(request, routeOf(path));
    try {
      const quota = quotaOf(request.method, path);
      if (quota !== undefined && isClientEndpoint(request.method, path))
        return await handleOfClient(request, response, path, quota);
      if (quota !== undefined) await takeFromQuota(limiter, quota, request);
      // oidc-provider also takes other cases and a slash at the end. Quotas and transactions go by the path, so a path has one
      // spelling, and all others are nobody's.
      if (!spelling.test(path)) {
        sendPlain(response, envelopeAnswer(noSuchPath));
        return;
      }
      if (registration.test(path)) {
        allowAnyOrigin(response);
        if (request.method === 'OPTIONS') return endPreflight(response);
      }
      await readBody(request);
      await oidc.handle(request, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendPlain(response, refusalAt(`${mountPath}${path}`, error));
    }
  };
}

/** Tools in a browser register themselves; there is nothing to steal. */
function allowAnyOrigin(response: ServerResponse): void {
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After');
}

function endPreflight(response: ServerResponse): void {
  response
    .writeHead(204, {
      'Access-Control-Allow-Methods': 'POST, GET, PUT, DELETE',
      'Access-Control-Allow-Headers': 'Content-Type, Authorization',
      'Access-Control-Max-Age': '3600',
    })
    .end();
}
