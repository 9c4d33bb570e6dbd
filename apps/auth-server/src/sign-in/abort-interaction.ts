import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import type { OpenInteraction } from './interaction.pipe.js';

/** Cancels a sign-in or declines a consent: the app receives `access_denied`. */
@Injectable()
export class AbortInteraction {
  constructor(private readonly audit: AuditLog) {}

  async run(interaction: OpenInteraction): Promise<PageResult> {
    await this.audit.write(
      {
        event: interaction.prompt === 'consent' ? 'consent_refused' : 'sign_in_cancelled',
        userId: interaction.accountId ?? interaction.passwordVerifiedFor,
        clientId: interaction.client.clientId,
      },
      interaction.origin,
    );
    const redirect = await interaction.finish({
      error: 'access_denied',
      error_description: 'The user denied the request.',
    });
    return { redirect };
  }
}
