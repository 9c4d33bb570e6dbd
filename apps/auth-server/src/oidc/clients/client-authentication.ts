import type { KoaContextWithOIDC } from 'oidc-provider';
import { setClientAuthentication } from '../../http/client-quotas.js';
import type { RejectionAudit } from './rejection-audit.js';

/**
 * Records which confidential client has authenticated itself, for the quotas, and audits failed
 * authentication. A public client has no secret, so anyone can send its id.
 */
export function recordClientAuthentication(audit: RejectionAudit) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> => {
    await next();
    // oidc-provider authenticates clients only in a POST: other methods get 404.
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
