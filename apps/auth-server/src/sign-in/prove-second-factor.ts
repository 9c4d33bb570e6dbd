import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuditLog, originOf } from '../audit/audit-log.js';
import { OidcServer } from '../oidc/oidc-server.js';
import { UnitOfWork } from '../oidc/unit-of-work.js';
import { keepRecoveryCodesPage, type SecondFactorProblem } from '../pages/second-factor.page.js';
import { bothFactors } from '../second-factor/second-factor-check.js';
import { SecondFactors } from '../second-factor/second-factors.js';
import { switchOnSecondFactor } from '../second-factor/switch-on.js';
import { AskSecondFactor } from './ask-second-factor.js';
import { FormTokens } from './form-tokens.js';
import { field } from './forms.js';
import { type OpenInteraction, openInteraction } from './open-interaction.js';
import type { Outcome } from './outcome.js';
import { codesOf, SignInThrottle, waitInWords } from './sign-in-throttle.js';

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
    const { passwordOf: userId, uid } = interaction;
    if (userId === undefined) return { redirect: `/interaction/${uid}` };
    const waiting = await this.waiting(interaction, userId, request);
    if (waiting !== undefined) return waiting;
    const proof = await this.factors.prove(userId, field(request, 'code'), Date.now());
    if (proof === undefined) return this.wrong(interaction, userId, request);
    await this.throttle.succeeded(codesOf(userId), originOf(request).ip);
    return this.signedIn(interaction, userId, request, { second_factor: proof });
  }

  /** Takes the first code of an app that was just set up, and shows the recovery codes. */
  async setUp(request: Request, response: Response): Promise<Outcome> {
    const interaction = await this.open(request, response);
    const { passwordOf: userId, uid, appName, formTargets } = interaction;
    if (userId === undefined) return { redirect: `/interaction/${uid}` };
    const waiting = await this.waiting(interaction, userId, request);
    if (waiting !== undefined) return waiting;
    const codes = await switchOnSecondFactor(this.work, this.factors, {
      userId,
      code: field(request, 'code'),
      sessionUid: interaction.sessionUid,
      clientId: interaction.client.clientId,
      origin: originOf(request),
    });
    if (codes === undefined) return this.wrong(interaction, userId, request);
    await this.throttle.succeeded(codesOf(userId), originOf(request).ip);
    await interaction.remember({ passwordOf: userId, passwordAt: interaction.passwordAt, provedBoth: true });
    return keepRecoveryCodesPage({ uid, appName, formTargets, csrf: this.forms.issue(uid) }, codes);
  }

  /** The recovery codes were seen. */
  async done(request: Request, response: Response): Promise<Outcome> {
    const interaction = await this.open(request, response);
    const { passwordOf: userId, provedBoth, uid } = interaction;
    if (userId === undefined || !provedBoth) return { redirect: `/interaction/${uid}` };
    return this.signedIn(interaction, userId, request, { second_factor: 'code' });
  }

  /** Forgets whose password was right. */
  async startOver(request: Request, response: Response): Promise<Outcome> {
    const interaction = await this.open(request, response);
    if (interaction.prompt === 'login') await interaction.remember({});
    return { redirect: `/interaction/${interaction.uid}` };
  }

  private async open(request: Request, response: Response): Promise<OpenInteraction> {
    const interaction = await openInteraction(this.oidc, request, response);
    this.forms.verify(interaction.uid, field(request, 'csrf'), request);
    return interaction;
  }

  private async waiting(
    interaction: OpenInteraction,
    userId: string,
    request: Request,
  ): Promise<Outcome | undefined> {
    const waitSeconds = await this.throttle.attempt(codesOf(userId), originOf(request).ip);
    if (waitSeconds === undefined) return undefined;
    await this.record('sign_in_locked', interaction, userId, request);
    const text = `Too many codes were wrong. ${waitInWords(waitSeconds)}`;
    return this.problem(interaction, userId, { status: 429, text, retryAfterSeconds: waitSeconds });
  }

  private async wrong(interaction: OpenInteraction, userId: string, request: Request): Promise<Outcome> {
    await this.throttle.failed(codesOf(userId), originOf(request).ip);
    await this.record('second_factor_failed', interaction, userId, request);
    const text = 'This code is not right, or was used already. Wait for the next one and try again.';
    return this.problem(interaction, userId, { status: 401, text });
  }

  private problem(
    interaction: OpenInteraction,
    userId: string,
    problem: SecondFactorProblem,
  ): Promise<Outcome> {
    return this.ask.show(interaction, userId, problem);
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

  private record(
    event: 'sign_in_locked' | 'second_factor_failed',
    { client }: OpenInteraction,
    userId: string,
    request: Request,
  ): Promise<void> {
    return this.audit.write(originOf(request), { event, userId, clientId: client.clientId });
  }
}
