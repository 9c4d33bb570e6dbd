import { type ErrorEnvelope, NotFound, RateLimited, toErrorAnswer } from '@fulfilment/error-envelope';
import type { RateLimiter } from '@fulfilment/http-service';
import type { NestExpressApplication } from '@nestjs/platform-express';
import express, {
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import type { Config } from '../config.js';
import { messagePage } from '../pages/message.page.js';
import { deliver } from '../sign-in/outcome.js';
import { swapSignedToken } from './introspection-swap.js';
import { isPublicDocument, isVisited, mountPath } from './kinds-of-path.rules.js';
import type { OidcServer } from './oidc-server.js';
import { noteArrival } from './reuse.js';
import { readTokenAhead } from './read-token-ahead.js';
import { changeForm, readBodies } from './request-bodies.js';
import { refuseUnreadableAddress } from './unreadable-text.js';

export type AuthQuota = 'token' | 'register' | 'authorization' | 'documents';

/** Of routes: small letters in the first two parts, then whatever an id may hold. */
const spelling = /^\/[a-z0-9._-]+(\/[a-z0-9._-]+(\/[^/]+)*)?$/;
const wellKnown: Readonly<Record<string, string>> = {
  '/.well-known/openid-configuration': 'openid-configuration',
  '/.well-known/openid-configuration/api/auth': 'openid-configuration',
  '/.well-known/oauth-authorization-server/api/auth': 'oauth-authorization-server',
};

/** Puts oidc-provider in front of Nest, which would read the bodies first. */
export function mountOidc(
  app: NestExpressApplication,
  config: Pick<Config, 'AUTH_URL'>,
  oidc: OidcServer,
  limiter: RateLimiter<AuthQuota>,
): void {
  app.use(noteArrival);
  app.use(refuseUnreadableAddress(answerUnreadable));
  app.use(asTheIssuer(config.AUTH_URL));
  app.use(rootDocuments);
  app.use(mountPath, endpoints(oidc, limiter));
  for (const pages of ['/interaction', '/account']) {
    app.use(
      pages,
      limited(limiter, () => 'authorization', showTooMany),
    );
    app.use(
      pages,
      express.urlencoded({ extended: false, limit: 16 * 1024, parameterLimit: 20 }),
      showBadForm,
    );
  }
}

function endpoints(oidc: OidcServer, limiter: RateLimiter<AuthQuota>): Router {
  const router = Router();
  router.use(limited(limiter, quotaOf, refuseInForm));
  router.use(oneSpelling);
  router.use('/oauth2/register', registrationFromAnyOrigin);
  router.use(readBodies);
  router.post(
    ['/oauth2/introspect', '/oauth2/revoke'],
    changeForm(swapSignedToken((request, jti) => oidc.stored.readAhead(request, 'AccessToken', jti))),
  );
  router.post(
    '/oauth2/token',
    changeForm(readTokenAhead((request, model, id) => oidc.stored.readAhead(request, model, id))),
  );
  router.use((request: Request, response: Response, next: NextFunction) => {
    oidc.handle(request, response).catch(next);
  });
  router.use(answerError);
  return router;
}

/**
 * Addresses in answers come from the request's host, so nobody but us says which it is: whatever `Host` or `X-Forwarded-*` a
 * client sent, the request is one to the issuer. (The address of the client is the gateway's to say.)
 */
function asTheIssuer(authUrl: string): RequestHandler {
  const { host, protocol } = new URL(authUrl);
  return (request, _response, next) => {
    request.headers.host = host;
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    delete request.headers['x-forwarded-host'];
    delete request.headers['x-forwarded-port'];
    delete request.headers.forwarded;
    next();
  };
}

/** RFC 8414 §3.1 puts the well-known name between host and path; OIDC Discovery §4 behind the path, where oidc-provider has it. */
function rootDocuments(request: Request, _response: Response, next: NextFunction): void {
  const document = wellKnown[request.path];
  if (document !== undefined) {
    request.url = `${mountPath}/.well-known/${document}`;
    request.originalUrl = request.url;
  }
  next();
}

/**
 * oidc-provider also takes other cases and a slash at the end. Quotas and transactions go by the path, so a path has one spelling, and
 * all others are nobody's.
 */
function oneSpelling({ path }: Request, response: Response, next: NextFunction): void {
  if (spelling.test(path)) return next();
  const { status, headers, body } = toErrorAnswer(new NotFound('There is no such path or method.'));
  response.status(status).set(headers).json(body);
}

function quotaOf(request: Request): AuthQuota | undefined {
  if (request.method === 'OPTIONS') return undefined;
  if (request.method === 'POST' && request.path === '/oauth2/token') return 'token';
  if (request.method === 'POST' && request.path === '/oauth2/register') return 'register';
  if (isPublicDocument(request.path)) return 'documents';
  return 'authorization';
}

/** A page for people, JSON for programs. */
function refuseInForm(error: unknown, request: Request, response: Response, next: NextFunction): void {
  if (isVisited(`${mountPath}${request.path}`)) showTooMany(error, request, response);
  else answerError(error, request, response, next);
}

/** Counts by address: before anything is known of the caller. */
function limited(
  limiter: RateLimiter<AuthQuota>,
  quotaOfRequest: (request: Request) => AuthQuota | undefined,
  refuse: (error: unknown, request: Request, response: Response, next: NextFunction) => void,
): RequestHandler {
  return (request, response, next) => {
    const quota = quotaOfRequest(request);
    if (quota === undefined) return next();
    limiter.take(quota, request.ip ?? 'unknown').then((decision) => {
      if (decision === undefined || decision.allowed) return next();
      const headers = limiter.headers(quota, decision);
      refuse(new RateLimited(decision.retryAfterSeconds, headers), request, response, next);
    }, next);
  };
}

function showTooMany(error: unknown, _request: Request, response: Response): void {
  const { headers } = toErrorAnswer(error);
  const text = 'Wait a moment, then load this page again.';
  deliver(response, messagePage({ title: 'Too many requests', text, status: 429, headers }));
}

/** A form that cannot be read: too large, too many fields, or cut off. Express knows an error's handler by its four parameters. */
function showBadForm(_error: unknown, _request: Request, response: Response, _next: NextFunction): void {
  const text = 'It was too large, or arrived incomplete. Go back and try again.';
  deliver(response, messagePage({ title: 'This form was not accepted', text, status: 400 }));
}

/** Each in its own form: a page for people, RFC 6749 JSON for apps, else the envelope. */
function answerUnreadable(error: unknown, request: Request, response: Response, next: NextFunction): void {
  if (isVisited(request.path)) {
    const text = 'Its address holds characters that nobody can read. Go back to the app and start again.';
    deliver(response, messagePage({ title: 'This link is not right', text, status: 400 }));
    return;
  }
  if (request.path.startsWith(mountPath)) return answerError(error, request, response, next);
  const { status, headers, body } = toErrorAnswer(error);
  response.status(status).set(headers).json(body);
}

/** Tools in a browser register themselves; there is nothing to steal. */
function registrationFromAnyOrigin(request: Request, response: Response, next: NextFunction): void {
  response.set('Access-Control-Allow-Origin', '*');
  response.set('Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After');
  if (request.method !== 'OPTIONS') return next();
  response
    .set({
      'Access-Control-Allow-Methods': 'POST, GET, PUT, DELETE',
      'Access-Control-Allow-Headers': 'Content-Type, Authorization',
      'Access-Control-Max-Age': '3600',
    })
    .status(204)
    .end();
}

const oauthErrors: Readonly<Record<string, string>> = {
  RATE_LIMITED: 'temporarily_unavailable',
  SERVICE_UNAVAILABLE: 'temporarily_unavailable',
  INTERNAL_ERROR: 'server_error',
};

/** RFC 6749 §5.2 and our envelope in one body: clients of either kind find what they look for. */
function answerError(error: unknown, _request: Request, response: Response, _next: NextFunction): void {
  const { status, headers, body } = toErrorAnswer(error);
  response
    .status(status)
    .set({ ...headers, 'Cache-Control': 'no-store' })
    .json(asOauthError(body));
}

function asOauthError(envelope: ErrorEnvelope): object {
  return {
    ...envelope,
    error: oauthErrors[envelope.code] ?? 'invalid_request',
    error_description: envelope.message,
  };
}
