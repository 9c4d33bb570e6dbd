import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { nameRoute, type RateLimiter, sendRendered } from '@fulfilment/http-service';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mountPath, routeOf } from '../http/route-kind.rules.js';
import { ClientQuotas, isClientEndpoint } from '../http/client-quotas.js';
import { type AuthQuota, quotaOf, takeFromQuota } from '../http/quotas.js';
import { describeActiveToken } from './introspection/describe-active-token.js';
import { envelopeResponse, errorResponseAt, noSuchPath } from './responses/error-responses.js';
import { replaceJwtWithHandle } from './introspection/jwt-handle.js';
import type { OidcServer } from './oidc-server.js';
import { prefetchToken } from './requests/prefetch-token.js';
import { formOf, passBody, passForm, receiveBody } from './requests/request-bodies.js';

/** Allowed spelling of a path: lower case in the first two segments, anything in the rest (ids). */
const canonicalPath = /^\/[a-z0-9._-]+(\/[a-z0-9._-]+(\/[^/]+)*)?$/;
const tokenPath = '/oauth2/token';
const introspectionPath = '/oauth2/introspect';
const revocationPath = '/oauth2/revoke';
const registrationPaths = /^\/oauth2\/register(\/|$)/;

/** @param path below the mount path */
type HandleEndpoint = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void>;

/**
 * Returns the handler of requests below the mount path. At the endpoints for clients (token, introspect,
 * revoke, par), it reads the body before it takes the quota, since the body may name the client to count.
 */
export function endpointHandler(oidc: OidcServer, limiter: RateLimiter<AuthQuota>): HandleEndpoint {
  const clientQuotas = new ClientQuotas(limiter);
  return async (request, response, path) => {
    nameRoute(request, routeOf(path));
    try {
      const quota = quotaOf(request.method, path);
      if (quota !== undefined && isClientEndpoint(request.method, path)) {
        await handleClientRequest(request, response, path, { oidc, clientQuotas, quota });
      } else {
        if (quota !== undefined) await takeFromQuota(limiter, quota, request);
        await handleOtherRequest(request, response, path, oidc);
      }
    } catch (error) {
      const failure = errorResponseAt(`${mountPath}${path}`, error);
      if (failure.status === 500 || error instanceof DependencyUnavailable)
        oidc.logger.error({ error }, 'A request to the authorization server failed.');
      if (response.headersSent) response.destroy();
      else sendRendered(response, failure);
    }
  };
}

/** Calls oidc-provider, or `describeActiveToken` for most introspections (ADR 67). */
async function handleClientRequest(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  {
    oidc,
    clientQuotas,
    quota,
  }: { readonly oidc: OidcServer; readonly clientQuotas: ClientQuotas; readonly quota: AuthQuota },
): Promise<void> {
  const receiving = receiveBody(request);
  // An error such as 413 is thrown only after the quota has counted the request.
  const form = formOf(request, await receiving.catch(() => undefined));
  await clientQuotas.take(quota, request, form);
  const body = await receiving;
  const description = path === introspectionPath ? await describeActiveToken(oidc, request, form) : undefined;
  if (description !== undefined) {
    sendRendered(response, description);
  } else {
    if (path === tokenPath && form !== undefined) prefetchToken(request, form, oidc.storedRows);
    const mayHaveJwt = path === introspectionPath || path === revocationPath;
    if (form !== undefined)
      passForm(request, mayHaveJwt ? replaceJwtWithHandle(request, form, oidc.storedRows) : form);
    else if (body !== undefined) passBody(request, body);
    await oidc.handle(request, response);
  }
  await clientQuotas.updateKnownClients(quota, request);
}

async function handleOtherRequest(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  oidc: OidcServer,
): Promise<void> {
  // oidc-provider ignores case and a trailing slash. Quotas and transactions depend on the path, so only one
  // spelling of a path is accepted; all others are 404.
  if (!canonicalPath.test(path)) {
    sendRendered(response, envelopeResponse(noSuchPath));
    return;
  }
  if (registrationPaths.test(path)) {
    allowAnyOrigin(response);
    if (request.method === 'OPTIONS') return endPreflight(response);
  }
  const body = await receiveBody(request);
  if (body !== undefined) passBody(request, body);
  await oidc.handle(request, response);
}

/** Tools in a browser register themselves. The endpoint uses no cookies, so any origin is safe. */
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
