import { ValidationFailed } from '@fulfilment/error-envelope';
import { type Ahead, type RateLimiter, sendPlain } from '@fulfilment/http-service';
import type { IncomingMessage } from 'node:http';
import type { Config } from '../config.js';
import { mountPath } from '../requests/kinds-of-path.rules.js';
import type { AuthQuota } from '../requests/request-limits.js';
import { isReadableWhenDecoded } from '../requests/unreadable-text.js';
import { noteArrival } from '../tokens/reuse.js';
import { endpoints } from './endpoints.js';
import type { OidcServer } from './oidc-server.js';
import { unreadableAt } from './refusals.js';

/** As oidc-provider and Express understand it: the path as it was asked for, where `url` is what lies below the mount path. */
interface MountedRequest extends IncomingMessage {
  originalUrl?: string;
}

const wellKnown: Readonly<Record<string, string>> = {
  '/.well-known/openid-configuration': 'openid-configuration',
  '/.well-known/openid-configuration/api/auth': 'openid-configuration',
  '/.well-known/oauth-authorization-server/api/auth': 'oauth-authorization-server',
};

/** Answers what is oidc-provider's, and makes all other requests readable ones to the issuer before they are Express'. */
export function mountOidc(
  config: Pick<Config, 'AUTH_URL'>,
  oidc: OidcServer,
  limiter: RateLimiter<AuthQuota>,
): Ahead {
  const issuer = new URL(config.AUTH_URL);
  const answer = endpoints(oidc, limiter);
  return (request: MountedRequest, response, express) => {
    noteArrival(request);
    const asked = originForm(request.url ?? '/');
    if (!isReadableWhenDecoded(asked)) {
      const field = isReadableWhenDecoded(pathOf(asked)) ? 'query' : 'path';
      const problem = new ValidationFailed([{ field, reason: 'malformed_encoding' }]);
      sendPlain(response, unreadableAt(pathOf(asked), problem));
      return;
    }
    makeItTheIssuers(request, issuer);
    const whole = documentAtRoot(asked) ?? asked;
    const below = belowMount(whole);
    if (below === undefined) return express();
    request.originalUrl = whole;
    request.url = below;
    void answer(request, response, pathOf(below));
  };
}

/**
 * Addresses in answers come from the request's host, so nobody but us says which it is: whatever `Host` or `X-Forwarded-*` a
 * client sent, the request is one to the issuer. (The address of the client is the gateway's to say.)
 */
function makeItTheIssuers({ headers }: IncomingMessage, { host, protocol }: URL): void {
  headers.host = host;
  headers['x-forwarded-proto'] = protocol.slice(0, -1);
  delete headers['x-forwarded-host'];
  delete headers['x-forwarded-port'];
  delete headers.forwarded;
}

/** A server must take a target with scheme and host, too (RFC 9112 §3.2.2). Who is asked is known. */
function originForm(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
}

/** RFC 8414 §3.1 puts the well-known name between host and path; OIDC Discovery §4 behind the path, where oidc-provider has it. */
function documentAtRoot(url: string): string | undefined {
  const document = url.startsWith('/.well-known/') ? wellKnown[pathOf(url)] : undefined;
  return document === undefined ? undefined : `${mountPath}/.well-known/${document}`;
}

function belowMount(url: string): string | undefined {
  if (!url.startsWith(mountPath)) return undefined;
  const rest = url.slice(mountPath.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : undefined;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
