import type { KoaContextWithOIDC } from 'oidc-provider';
import { noteClientAuthentication } from '../requests/client-quotas.js';

/** Notes whether a confidential client has authenticated. Public clients have no secret, so nothing is known of who sends their id. */
export async function noteClient(ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> {
  await next();
  if (ctx.method !== 'POST') return; // there is no such endpoint
  const client = ctx.oidc.entities.Client;
  if (isInvalidClient(ctx.body)) noteClientAuthentication(ctx.req, 'rejected');
  else if (client !== undefined && client.clientAuthMethod !== 'none' && ctx.status < 500)
    noteClientAuthentication(ctx.req, { clientId: client.clientId });
}

function isInvalidClient(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Reflect.get(body, 'error') === 'invalid_client';
}
