import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type AuthServerSettings } from '../../config.js';
import { clientNetwork } from '@fulfilment/http-service';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { type AuditEntry, AuditLog, originOf } from '../../audit/audit-log.js';

type Rejection = Pick<AuditEntry, 'clientId' | 'details'> & {
  readonly event: 'client_authentication_failed' | 'introspection_rejected';
};

/** Audits rejections that anyone can repeat, with one record per client, network and window. */
@Injectable()
export class RejectionAudit {
  constructor(
    private readonly audit: AuditLog,
    @Inject(CONFIG) private readonly config: Pick<AuthServerSettings, 'SIGN_IN_FAILURES'>,
  ) {}

  /**
   * @param rejection `clientId` is set only for a registered client. Rejections without it share one record
   * per network, because a sender can invent ids
   */
  async record(ctx: KoaContextWithOIDC, rejection: Rejection): Promise<void> {
    const { event, clientId = '' } = rejection;
    await this.audit.count({
      subject: `${event}:${clientId}@${clientNetwork(ctx.ip).network}`,
      origin: originOf(ctx),
      entry: rejection,
      // The same window as for failed sign-ins; their limit does not apply here.
      windowSeconds: this.config.SIGN_IN_FAILURES.windowSeconds,
    });
  }
}
