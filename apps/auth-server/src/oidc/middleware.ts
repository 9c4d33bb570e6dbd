import type { default as Provider } from 'oidc-provider';
import { clientEndpoints } from '../http/client-quotas.js';
import { recordSignIns } from '../sessions/record-sign-ins.js';
import { auditProviderEvents } from './audit-events.js';
import { recordClientAuthentication } from './clients/client-authentication.js';
import { inUnitOfWork } from './in-unit-of-work.js';
import type { ProviderDependencies } from './provider-dependencies.js';
import {
  advertiseResponseModes,
  cachePublicDocuments,
  forbidStoring,
  respondToMissingClient,
  respondToUnknownPaths,
} from './responses/adjust-responses.js';
import { replaceScriptPages } from './responses/replace-script-pages.js';
import { respondToOutages } from './responses/respond-to-outages.js';

type Next = () => Promise<unknown>;

/**
 * Adds the suite's middleware to oidc-provider. Each one wraps those below it and oidc-provider's handler, so
 * it acts on their response. The order matters only where a comment says why.
 */
export function addMiddleware(provider: Provider, dependencies: ProviderDependencies): void {
  const { browsers, logger, rejectionAudit, responseTimestamps, unitOfWork } = dependencies;
  provider.use(respondToOutages(provider, logger)); // first, so that it responds to errors of all others
  provider.use(respondToUnknownPaths);
  provider.use(onlyAt(/^\/(jwks|\.well-known\/)/, cachePublicDocuments));
  provider.use(onlyAt(/^\/\.well-known\//, advertiseResponseModes));
  provider.use(onlyAt(/^\/oauth2\//, forbidStoring));
  // Outside respondToMissingClient, whose response it counts as failed authentication.
  provider.use(onlyAt(clientEndpoints, recordClientAuthentication(rejectionAudit)));
  provider.use(onlyAt(/^\/oauth2\/(introspect|revoke)$/, respondToMissingClient));
  provider.use(auditProviderEvents(provider, unitOfWork));
  provider.use(
    onlyAt(/^\/oauth2\/(token$|revoke$|register\/)/, inUnitOfWork(unitOfWork, responseTimestamps)),
  );
  provider.use(onlyAt(/^\/oauth2\/authorize/, recordSignIns(browsers)));
  provider.use(onlyAt(/^\/oauth2\/(authorize\/|end-session)/, replaceScriptPages));
}

/**
 * Applies a middleware only at some paths, below the mount path: an async one costs time in every request.
 */
function onlyAt<Ctx extends object>(paths: RegExp, middleware: (ctx: Ctx, next: Next) => Promise<unknown>) {
  return (ctx: Ctx & { readonly path: string }, next: Next): Promise<unknown> =>
    paths.test(ctx.path) ? middleware(ctx, next) : next();
}
