import type { KoaContextWithOIDC } from 'oidc-provider';
import { setClientAuthentication } from '../../http/client-quotas.js';
import type { RejectionAudit } from './rejection-audit.js';

/**
 * Records whether a confidential client has authenticated, and audits failed authentication. Public clients
 * have no secret, so their id does not identify the sender.
 */
export function recordClientAuthentication(audit: RejectionAudit) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> => {
    await next();
    // The endpoints with client authentication (middleware.ts) accept only POST; oidc-provider responds to
    // other methods with 404.
    if (ctx.method !== 'POST') return;
    const client = ctx.oidc.entities.Client;
    if (isInvalidClient(ctx.body)) {
      setClientAuthentication(ctx.req, 'rejected');
      await audit.record(ctx, { event: 'client_authentication_failed', clientId: client?.clientId });
    } else if (client !== undefined && client.clientAuthMethod !== 'none' && ctx.status < 500) {
      if (!hasAttestation(ctx)) setClientAuthentication(ctx.req, { clientId: client.clientId });
    }
  };
}

// With one of these headers, oidc-provider may reject a request before it verifies the client's secret. An
// error other than `invalid_client` then does not show that the secret is correct.
function hasAttestation({ headers }: KoaContextWithOIDC): boolean {
  return (
    headers['oauth-client-attestation'] !== undefined || headers['oauth-client-attestation-pop'] !== undefined
  );
}

function isInvalidClient(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'error' in body && body.error === 'invalid_client';
}
