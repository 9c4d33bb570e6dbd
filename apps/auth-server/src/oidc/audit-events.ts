import Provider, { type KoaContextWithOIDC } from 'oidc-provider';
import { type AuditEntry, originOf } from '../audit/audit-log.js';
import type { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';

/**
 * Audits the events of oidc-provider. Sign-ins, consents and changes of clients are audited by their use
 * cases. Returns middleware that delays a response until the audit records of its request are written, since
 * oidc-provider does not await listeners.
 */
export function auditProviderEvents(provider: Provider, unitOfWork: UnitOfWork) {
  const writing = new WeakMap<object, Promise<void>[]>();
  const write = (ctx: KoaContextWithOIDC, entry: AuditEntry): void => {
    const { account, client, entities, session } = ctx.oidc;
    const token = entities.RefreshToken ?? entities.AuthorizationCode; // the revoked or reused one
    const userId = account?.accountId ?? session?.accountId ?? token?.accountId;
    const written = writing.get(ctx.req) ?? [];
    written.push(unitOfWork.writeAudit({ userId, clientId: client?.clientId, ...entry }, originOf(ctx)));
    writing.set(ctx.req, written);
  };
  provider.on('registration_create.success', (ctx, client) =>
    write(ctx, {
      event: 'client_registered',
      clientId: client.clientId,
      details: { name: client.clientName },
    }),
  );
  provider.on('registration_delete.success', (ctx, client) =>
    write(ctx, { event: 'client_deleted', clientId: client.clientId }),
  );
  provider.on('authorization.success', (ctx) => write(ctx, { event: 'code_issued' }));
  provider.on('grant.success', (ctx) => {
    // Only the start of a token family is audited, not its refreshes.
    if (ctx.oidc.params?.grant_type !== 'authorization_code') return;
    write(ctx, { event: 'token_issued', details: { grant_id: ctx.oidc.entities.Grant?.jti } });
  });
  provider.on('grant.revoked', (ctx, grantId) =>
    write(ctx, { event: 'token_family_ended', details: { grant_id: grantId, endpoint: ctx.oidc.route } }),
  );
  provider.on('access_token.destroyed', ({ jti, accountId, clientId }) => {
    const ctx = Provider.ctx;
    if (ctx !== undefined)
      write(ctx, { event: 'token_revoked', userId: accountId, clientId, details: { jti } });
  });
  provider.on('end_session.success', (ctx) => {
    // A form without the field `logout` does not end the session.
    if (ctx.oidc.session?.destroyed === true) write(ctx, { event: 'signed_out' });
  });
  return async (ctx: { readonly req: object }, next: () => Promise<unknown>): Promise<void> => {
    try {
      await next();
    } finally {
      await Promise.all(writing.get(ctx.req) ?? []);
    }
  };
}
