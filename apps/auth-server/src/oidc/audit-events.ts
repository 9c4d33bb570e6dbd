import Provider, { type KoaContextWithOIDC } from 'oidc-provider';
import { type AuditEntry, type AuditLog, originOf } from '../audit/audit-log.js';
import { consumedInParallel } from './adapter.js';

/** Writes down what oidc-provider does. Sign-in and consent are written where they happen. */
export function recordEvents(provider: Provider, audit: AuditLog): void {
  const write = (ctx: KoaContextWithOIDC, entry: AuditEntry): void => {
    void audit.write(originOf({ ip: ctx.ip, headers: ctx.headers }), {
      userId: ctx.oidc.account?.accountId ?? ctx.oidc.session?.accountId,
      clientId: ctx.oidc.client?.clientId,
      ...entry,
    });
  };
  provider.on('registration_create.success', (ctx, client) =>
    write(ctx, {
      event: 'client_registered',
      clientId: client.clientId,
      details: { name: client.clientName },
    }),
  );
  provider.on('registration_update.success', (ctx, client) =>
    write(ctx, { event: 'client_changed', clientId: client.clientId }),
  );
  provider.on('registration_delete.success', (ctx, client) =>
    write(ctx, { event: 'client_deleted', clientId: client.clientId }),
  );
  provider.on('authorization.success', (ctx) => write(ctx, { event: 'code_issued' }));
  provider.on('grant.success', (ctx) => {
    // The start of a family; its refreshes are no news.
    if (ctx.oidc.params?.grant_type !== 'authorization_code') return;
    write(ctx, { event: 'token_issued', details: { grant_id: ctx.oidc.entities.Grant?.jti } });
  });
  provider.on('grant.error', (ctx, error) => {
    if (error.error_detail === consumedInParallel) write(ctx, { event: 'token_race_lost' });
  });
  provider.on('grant.revoked', (ctx, grantId) =>
    write(ctx, { event: 'token_family_ended', details: { grant_id: grantId, endpoint: ctx.oidc.route } }),
  );
  provider.on('access_token.destroyed', ({ jti, accountId, clientId }) => {
    const ctx = Provider.ctx;
    if (ctx !== undefined)
      write(ctx, { event: 'token_revoked', userId: accountId, clientId, details: { jti } });
  });
  provider.on('end_session.success', (ctx) => write(ctx, { event: 'signed_out' }));
}
