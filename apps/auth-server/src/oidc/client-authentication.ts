import type { KoaContextWithOIDC } from 'oidc-provider';
import { setClientAuthentication } from '../http/client-quotas.js';
import type { CountRejections } from './count-rejections.js';

/**
 * Records whether a confidential client has authenticated, and audits failed authentication. Public clients
 * have no secret, so their id does not identify the sender.
 */
export function recordClientAuthentication(rejections: CountRejections) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> => {
    await next();
    if (ctx.method !== 'POST') return; // 404
    const client = ctx.oidc.entities.Client;
    if (isInvalidClient(ctx.body)) {
      setClientAuthentication(ctx.req, 'rejected');
      await rejections.count(ctx, { event: 'client_authentication_failed', clientId: client?.clientId });
    } else if (client !== undefined && client.clientAuthMethod !== 'none' && ctx.status < 500)
      setClientAuthentication(ctx.req, { clientId: client.clientId });
  };
}

function isInvalidClient(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Reflect.get(body, 'error') === 'invalid_client';
}
