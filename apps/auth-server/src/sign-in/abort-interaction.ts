import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuditLog, originOf } from '../audit/audit-log.js';
import { OidcServer } from '../oidc/oidc-server.js';
import { FormTokens } from '../pages/form-tokens.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { openInteraction } from './open-interaction.js';

/** Cancels a sign-in or declines a consent: the app receives `access_denied`. */
@Injectable()
export class AbortInteraction {
  constructor(
    private readonly oidc: OidcServer,
    private readonly forms: FormTokens,
    private readonly audit: AuditLog,
  ) {}

  async run(request: Request, response: Response): Promise<Outcome> {
    const interaction = await openInteraction(this.oidc, request, response);
    this.forms.verify(interaction.uid, field(request, 'csrf'), request);
    await this.audit.write(originOf(request), {
      event: interaction.prompt === 'consent' ? 'consent_refused' : 'sign_in_cancelled',
      userId: interaction.accountId ?? interaction.passwordOf,
      clientId: interaction.client.clientId,
    });
    const redirect = await interaction.finish({
      error: 'access_denied',
      error_description: 'The user denied the request.',
    });
    return { redirect };
  }
}
