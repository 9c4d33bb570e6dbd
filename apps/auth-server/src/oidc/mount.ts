import { ValidationFailed } from '@fulfilment/error-envelope';
import { type RawHandler, type RateLimiter, sendRendered } from '@fulfilment/http-service';
import type { IncomingMessage } from 'node:http';
import type { AuthServerSettings } from '../config.js';
import { belowMount, mountPath } from '../http/route-kind.rules.js';
import type { AuthQuota } from '../http/quotas.js';
import { decodesToStorableText } from '../http/storable-text.js';
import { recordArrival } from '../tokens/reuse/request-arrivals.js';
import { endpointHandler } from './endpoints.js';
import type { OidcServer } from './oidc-server.js';
import { errorResponseAt } from './responses/error-responses.js';

/** Like Express: `originalUrl` is the requested URL, `url` the part below the mount path. */
interface MountedRequest extends IncomingMessage {
  originalUrl?: string;
}

/** Metadata documents by the paths outside the mount path at which clients look for them. */
const wellKnown: Readonly<Record<string, string>> = {
  '/.well-known/openid-configuration': 'openid-configuration',
  '/.well-known/openid-configuration/api/auth': 'openid-configuration',
  '/.well-known/oauth-authorization-server/api/auth': 'oauth-authorization-server',
};

/**
 * Returns the handler that receives every request before Express. Requests below the mount path and requests
 * for metadata go to oidc-provider's endpoints, all others to Express. The issuer's host replaces the host in
 * their headers. A URL with text that PostgreSQL cannot store gets 400.
 */
export function oidcRawHandler(
  config: Pick<AuthServerSettings, 'AUTH_URL'>,
  oidc: OidcServer,
  limiter: RateLimiter<AuthQuota>,
): RawHandler {
  const issuer = new URL(config.AUTH_URL);
  const handle = endpointHandler(oidc, limiter);
  return (request: MountedRequest, response, passToExpress) => {
    recordArrival(request);
    const requested = originForm(request.url ?? '/');
    if (!decodesToStorableText(requested)) {
      const field = decodesToStorableText(pathOf(requested)) ? 'query' : 'path';
      const problem = new ValidationFailed([{ field, reason: 'malformed_encoding' }]);
      sendRendered(response, errorResponseAt(pathOf(requested), problem));
      return;
    }
    rewriteToIssuer(request, issuer);
    const url = rewriteWellKnown(requested) ?? requested;
    const urlBelowMount = belowMount(url);
    if (urlBelowMount === undefined) return passToExpress();
    request.originalUrl = url;
    request.url = urlBelowMount;
    void handle(request, response, pathOf(urlBelowMount));
  };
}

/**
 * oidc-provider builds URLs in responses from the request's host. So the host of the issuer replaces `Host`
 * and `X-Forwarded-*` of the client. (`X-Forwarded-For` is set by the gateway and stays.)
 */
function rewriteToIssuer({ headers }: IncomingMessage, { host, protocol }: URL): void {
  headers.host = host;
  headers['x-forwarded-proto'] = protocol.slice(0, -1);
  delete headers['x-forwarded-host'];
  delete headers['x-forwarded-port'];
  delete headers.forwarded;
}

/** Removes scheme and host, which a server must accept in a request target (RFC 9112 §3.2.2). */
function originForm(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
}

/**
 * Returns the URL of a metadata document as oidc-provider serves it; undefined for any other URL. RFC 8414
 * §3.1 puts the well-known name between host and path; OIDC Discovery §4, like oidc-provider, after the path.
 */
function rewriteWellKnown(url: string): string | undefined {
  const document = url.startsWith('/.well-known/') ? wellKnown[pathOf(url)] : undefined;
  return document === undefined ? undefined : `${mountPath}/.well-known/${document}`;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
