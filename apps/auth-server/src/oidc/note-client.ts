import type { KoaContextWithOIDC } from 'oidc-provider';
import { noteClientAuthentication } from '../requests/client-quotas.js';
import type { CountRejections } from './count-rejections.js';

/**
 * Notes whether a confidential client has authenticated, and audits when authentication failed. Public clients have no secret, so
 * nothing is known about the sender of their id.
 */
export function noteClient(rejections: CountRejections) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> => {
    await next();
    if (ctx.method !== 'POST') return; // there is no such endpoint
    const client = ctx.oidc.entities.Client;
    if (isInvalidClient(ctx.body)) {
      noteClientAuthentication(ctx.req, 'rejected');
      await rejections.count(ctx, { event: 'client_authentication_failed', clientId: client?.clientId });
    } else if (client !== undefined && client.clientAuthMethod !== 'none' && ctx.status < 500)
      noteClientAuthentication(ctx.req, { clientId: client.clientId });
  };
}

function isInvalidClient(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Reflect.get(body, 'error') === 'invalid_client';
}
