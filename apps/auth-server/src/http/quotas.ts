import { RateLimited } from '@fulfilment/error-envelope';
import { callerAddress, type RateLimiter } from '@fulfilment/http-service';
import type { IncomingMessage } from 'node:http';
import { isPublicDocument } from './route-kind.rules.js';

/**
 * `documents` is for public keys and metadata, `authorization` for every request without a quota of its own,
 * such as pages and introspection.
 */
export type AuthQuota = 'token' | 'register' | 'authorization' | 'documents';

/** Takes a request from the quota of a client or, without an id, of its network. @throws RateLimited */
export async function takeFromQuota(
  limiter: RateLimiter<AuthQuota>,
  quota: AuthQuota,
  request: IncomingMessage,
  clientId?: string,
): Promise<void> {
  const decision =
    clientId === undefined
      ? await limiter.takeByAddress(quota, callerAddress(request))
      : await limiter.take(quota, `client:${clientId}`);
  if (decision?.allowed === false)
    throw new RateLimited(decision.retryAfterSeconds, limiter.headers(quota, decision));
}

/** Returns the quota of a request; undefined for a preflight. @param path below the mount path */
export function quotaOf(method: string | undefined, path: string): AuthQuota | undefined {
  if (method === 'OPTIONS') return undefined;
  if (method === 'POST' && path === '/oauth2/token') return 'token';
  if (method === 'POST' && path === '/oauth2/register') return 'register';
  if (isPublicDocument(path)) return 'documents';
  return 'authorization';
}
