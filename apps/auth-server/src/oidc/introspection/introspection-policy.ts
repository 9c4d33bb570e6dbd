import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import type { RejectionAudit } from '../clients/rejection-audit.js';

interface IntrospectedToken {
  readonly kind: string;
  readonly clientId?: string;
}

/**
 * A client may introspect its own tokens. Only a client that the operator marked as a resource server may
 * introspect access tokens of other clients. A refresh token is shown only to its own client: no resource
 * server receives one. A rejected request is audited, since its client holds a valid token of another client
 * (ADR 31).
 */
export function allowIntrospection(audit: RejectionAudit) {
  return async (ctx: KoaContextWithOIDC, client: Client, token: IntrospectedToken): Promise<boolean> => {
    if (token.clientId === client.clientId) return true;
    const isRefreshToken = token.kind === 'RefreshToken';
    if (client.resource_server === true && !isRefreshToken) return true;
    await audit.record(ctx, {
      event: 'introspection_rejected',
      clientId: client.clientId,
      details: { token: isRefreshToken ? 'refresh_token' : 'access_token', token_client_id: token.clientId },
    });
    return false;
  };
}
