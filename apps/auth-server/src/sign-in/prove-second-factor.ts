import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuditLog, originOf } from '../audit/audit-log.js';
import { OidcServer } from '../oidc/oidc-server.js';
import { FormTokens } from '../pages/form-tokens.js';
import { field } from '../pages/forms.js';
import type { Outcome } from '../pages/outcome.js';
import { keepRecoveryCodesPage } from '../pages/second-factor.page.js';
import { bothFactors } from '../second-factor/second-factor-check.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { switchOnSecondFactor } from '../second-factor/switch-on.js';
import { UnitOfWork } from '../tokens/unit-of-work.js';
import { AskSecondFactor } from './ask-second-factor.js';
import { type OpenInteraction, openInteraction } from './open-interaction.js';
import { codesOf, type Guess, SignInThrottle, waitInWords } from './sign-in-throttle.js';

/** The second half of a sign-in, for those whose password was right: nobody is signed in before this said yes. */
@Injectable()
export class ProveSecondFactor {
  constructor(
    private readonly oidc: OidcServer,
    private readonly factors: SecondFactors,
    private readonly work: UnitOfWork,
    private readonly throttle: SignInThrottle,
    private readonly forms: FormTokens,
    private readonly audit: AuditLog,
    private readonly ask: AskSecondFactor,
  ) {}

  /** Takes a code of the app or a recovery code. */
  async run(request: Request, response: Response): Promise<Outcome> {
    const interaction = await this.open(request, response);
    const userId = await this.ask.whosePassword(interaction);
    if (userId === undefined) return showAgain(interaction);
    const guess = await this.throttle.guess(codesOf(userId), originOf(request).ip, () =>
      this.factors.prove(userId, field(request, 'code')),
    );
    if (guess.kind !== 'right') return this.refused(interaction, userId, request, guess);
    return this.signedIn(interaction, userId, request, { second_factor: guess.found });
  }

  /** Takes the first code of an app that was just set up, and shows the recovery codes. */
  async setUp(request: Request, response: Response): Promise<Outcome> {
    const interaction = await this.open(request, response);
    const { uid, appName, formTargets } = interaction;
    const userId = await this.ask.whosePassword(interaction);
    if (userId === undefined) return showAgain(interaction);
    const guess = await this.throttle.guess(codesOf(userId), originOf(request).ip, () =>
      switchOnSecondFactor(this.work, this.factors, {
        userId,
        code: field(request, 'code'),
        sessionUid: interaction.sessionUid,
        clientId: interaction.client.clientId,
        origin: originOf(request),
      }),
    );
    if (guess.kind !== 'right') return this.refused(interaction, userId, request, guess);
    await interaction.remember({ passwordOf: userId, passwordAt: interaction.passwordAt, provedBoth: true });
    return keepRecoveryCodesPage({ uid, appName, formTargets, csrf: this.forms.issue(uid) }, guess.found);
  }

  /** The recovery codes were seen. */
  async done(request: Request, response: Response): Promise<Outcome> {
    const interaction = await this.open(request, response);
    const userId = await this.ask.whosePassword(interaction);
    if (userId === undefined || !interaction.provedBoth) return showAgain(interaction);
    return this.signedIn(interaction, userId, request, { second_factor: 'code' });
  }

  /** Forgets whose password was right. */
  async startOver(request: Request, response: Response): Promise<Outcome> {
    const interaction = await this.open(request, response);
    if (interaction.prompt === 'login') await interaction.remember({});
    return showAgain(interaction);
  }

  private async open(request: Request, response: Response): Promise<OpenInteraction> {
    const interaction = await openInteraction(this.oidc, request, response);
    this.forms.verify(interaction.uid, field(request, 'csrf'), request);
    return interaction;
  }

  private async refused(
    interaction: OpenInteraction,
    userId: string,
    request: Request,
    guess: Exclude<Guess<unknown>, { kind: 'right' }>,
  ): Promise<Outcome> {
    const event = guess.kind === 'wrong' ? 'second_factor_failed' : 'sign_in_locked';
    const { clientId } = interaction.client;
    await this.audit.write(originOf(request), { event, userId, clientId });
    if (guess.kind === 'locked') {
      const { waitSeconds: retryAfterSeconds } = guess;
      const text = `Too many codes were wrong. ${waitInWords(retryAfterSeconds)}`;
      return this.ask.show(interaction, userId, { status: 429, text, retryAfterSeconds });
    }
    const text = 'This code is not right, or was used already. Wait for the next one and try again.';
    return this.ask.show(interaction, userId, { status: 401, text });
  }

  private async signedIn(
    interaction: OpenInteraction,
    userId: string,
    request: Request,
    details: Readonly<Record<string, string>>,
  ): Promise<Outcome> {
    const { clientId } = interaction.client;
    await this.audit.write(originOf(request), { event: 'signed_in', userId, clientId, details });
    return {
      redirect: await interaction.finish({
        login: { accountId: userId, ts: interaction.passwordAt, amr: [...bothFactors] },
      }),
    };
  }
}

function showAgain({ uid }: OpenInteraction): Outcome {
  return { redirect: `/interaction/${uid}` };
}
