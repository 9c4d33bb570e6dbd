import { Injectable } from '@nestjs/common';
import type { Credentials } from '../users/read-accounts.js';
import { AuditLog } from '../audit/audit-log.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { DeviceCookies } from './device-cookies.js';
import type { OpenInteraction } from './interaction.pipe.js';
import { SignInThrottle } from './throttling/sign-in-throttle.js';

/** Signs the person in after all required factors were verified. */
@Injectable()
export class FinishSignIn {
  constructor(
    private readonly throttle: SignInThrottle,
    private readonly devices: DeviceCookies,
    private readonly audit: AuditLog,
  ) {}

  async run(
    interaction: OpenInteraction,
    user: Credentials,
    verified: {
      /** When the password was verified, in seconds since 1970. */
      readonly passwordVerifiedAt: number;
      /** The verified factors (RFC 8176). */
      readonly amr: readonly string[];
      readonly details?: Readonly<Record<string, string>>;
    },
  ): Promise<PageResult> {
    const { origin, cookies, client } = interaction;
    await this.throttle.recordSignIn(origin.ip, user.id);
    await this.audit.write(
      {
        event: 'signed_in',
        clientId: client.clientId,
        userId: user.id,
        details: verified.details,
      },
      origin,
    );
    const login = { accountId: user.id, ts: verified.passwordVerifiedAt, amr: [...verified.amr] };
    return {
      redirect: await interaction.finish({ login }),
      cookie: this.devices.issue(cookies, user),
    };
  }
}
