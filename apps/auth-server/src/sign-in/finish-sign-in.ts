import { Injectable } from '@nestjs/common';
import type { Credentials } from '../users/read-accounts.js';
import { AuditLog } from '../audit/audit-log.js';
import type { Outcome } from '../pages/outcome.interceptor.js';
import { DeviceCookies } from './device-cookies.js';
import type { OpenInteraction } from './interaction.pipe.js';
import { SignInThrottle } from './sign-in-throttle.js';

/** Signs the person in after all required factors were verified. */
@Injectable()
export class FinishSignIn {
  constructor(
    private readonly throttle: SignInThrottle,
    private readonly devices: DeviceCookies,
    private readonly audit: AuditLog,
  ) {}

  /**
   * @param verified `at`: when the password was verified, in seconds since 1970; `amr`: the verified factors
   * (RFC 8176)
   */
  async run(
    interaction: OpenInteraction,
    user: Credentials,
    verified: {
      readonly at: number;
      readonly amr: readonly string[];
      readonly details?: Readonly<Record<string, string>>;
    },
  ): Promise<Outcome> {
    const { origin, cookies, client } = interaction;
    await this.throttle.recordSignIn(origin.ip, user.id);
    await this.audit.write(origin, {
      event: 'signed_in',
      clientId: client.clientId,
      userId: user.id,
      ...(verified.details === undefined ? {} : { details: verified.details }),
    });
    const login = { accountId: user.id, ts: verified.at, amr: [...verified.amr] };
    return {
      redirect: await interaction.finish({ login }),
      cookie: this.devices.issue(cookies, user),
    };
  }
}
