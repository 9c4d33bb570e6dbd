import { Injectable } from '@nestjs/common';
import { type Credentials, ReadAccounts } from '../users/read-accounts.js';
import { AuditLog } from '../audit/audit-log.js';
import { lockedProblem } from '../pages/form-problem.js';
import type { PageResult } from '../pages/page-result.interceptor.js';
import { setupRecoveryCodesPage } from '../pages/sign-in/second-factor.page.js';
import type { CheckResult } from '../second-factor/check-result.js';
import { bothFactors } from '../second-factor/authentication-methods.js';
import { type SecondFactorMethod, SecondFactors, setupExpiredText } from '../second-factor/second-factors.js';
import { confirmSecondFactor } from '../second-factor/confirm-second-factor.js';
import { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';
import { SecondFactorPrompt } from './second-factor-prompt.js';
import { DeviceCookies } from './device-cookies.js';
import { FinishSignIn } from './finish-sign-in.js';
import { codeGuessTarget } from './throttling/guess-target.rules.js';
import type { OpenInteraction } from './interaction.pipe.js';
import { type Guess, SignInThrottle } from './throttling/sign-in-throttle.js';

/** The form was sent twice, and the browser may not have shown the recovery codes of the first response. */
const alreadyConfirmedText =
  'The second factor is already on. Wait for the next code to sign in. If you have not saved recovery codes, create new ones on the page Security of your account.';

/** The second step of a sign-in, after the password was verified. The person is signed in only after it. */
@Injectable()
export class VerifySecondFactor {
  constructor(
    private readonly factors: SecondFactors,
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: ReadAccounts,
    private readonly throttle: SignInThrottle,
    private readonly devices: DeviceCookies,
    private readonly finish: FinishSignIn,
    private readonly audit: AuditLog,
    private readonly prompt: SecondFactorPrompt,
  ) {}

  /** Verifies a code of the app or a recovery code. */
  async run(interaction: OpenInteraction): Promise<PageResult> {
    const user = await this.userOf(interaction);
    if (user === undefined) return interaction.currentStepRedirect;
    const guess = await this.guess(interaction, user, () =>
      this.factors.verifyCode(user.id, interaction.field('code'), interaction.origin),
    );
    if (guess.kind !== 'correct') return this.auditAndShowRejection(interaction, user.id, guess);
    return this.completeSignIn(interaction, user, guess.result);
  }

  /** Verifies the first code of an app that was just set up, and shows the recovery codes. */
  async setUp(interaction: OpenInteraction): Promise<PageResult> {
    const user = await this.userOf(interaction);
    if (user === undefined) return interaction.currentStepRedirect;
    const guess = await this.guess(interaction, user, () =>
      confirmSecondFactor(this.unitOfWork, this.factors, {
        userId: user.id,
        code: interaction.field('code'),
        sessionUid: interaction.sessionUid,
        clientId: interaction.client.clientId,
        origin: interaction.origin,
      }),
    );
    if (guess.kind !== 'correct') return this.auditAndShowRejection(interaction, user.id, guess);
    await interaction.replaceProgress({
      passwordVerifiedFor: user.id,
      passwordVerifiedAt: interaction.passwordVerifiedAt,
      secondFactorVerified: true,
    });
    return setupRecoveryCodesPage(interaction.context, guess.result);
  }

  /** Signs in after the recovery codes were shown. */
  async finishSetUp(interaction: OpenInteraction): Promise<PageResult> {
    const user = await this.userOf(interaction);
    if (user === undefined || !interaction.secondFactorVerified) return interaction.currentStepRedirect;
    // An operator may have reset the factor since then.
    if (!(await this.factors.stateOf(user.id)).confirmed) return this.startOver(interaction);
    return this.completeSignIn(interaction, user, 'code');
  }

  /** Discards the verified password, so that the sign-in starts again. */
  async startOver(interaction: OpenInteraction): Promise<PageResult> {
    if (interaction.prompt === 'login') await interaction.replaceProgress({});
    return interaction.currentStepRedirect;
  }

  /**
   * Returns the user whose password was verified; undefined when the sign-in must start with the password.
   */
  private async userOf(interaction: OpenInteraction): Promise<Credentials | undefined> {
    const userId = await this.prompt.userIdWithVerifiedPassword(interaction);
    return userId === undefined ? undefined : this.accounts.credentials(userId);
  }

  private guess<Result>(
    { client: { clientId }, origin, cookies }: OpenInteraction,
    user: Credentials,
    check: () => Promise<CheckResult<Result>>,
  ): Promise<Guess<Result>> {
    const device = this.devices.find(cookies, user);
    const target = codeGuessTarget({ userId: user.id, address: origin.ip, device });
    const auditIfLocked = { event: 'sign_in_locked', userId: user.id, clientId } as const;
    return this.throttle.guess(target, { origin, auditIfLocked }, check);
  }

  private async auditAndShowRejection(
    interaction: OpenInteraction,
    userId: string,
    guess: Exclude<Guess<unknown>, { kind: 'correct' }>,
  ): Promise<PageResult> {
    if (guess.kind === 'locked')
      return this.prompt.show(interaction, userId, lockedProblem('incorrect codes', guess.waitSeconds));
    if (guess.kind === 'nothing to verify') {
      const { confirmed } = await this.factors.stateOf(userId);
      const text = confirmed ? alreadyConfirmedText : setupExpiredText;
      return this.prompt.show(interaction, userId, { status: confirmed ? 409 : 401, text });
    }
    const { clientId } = interaction.client;
    await this.audit.write({ event: 'second_factor_failed', userId, clientId }, interaction.origin);
    const text = await this.factors.wrongCodeText(userId);
    return this.prompt.show(interaction, userId, { status: 401, text });
  }

  private completeSignIn(
    interaction: OpenInteraction,
    user: Credentials,
    verifiedBy: SecondFactorMethod,
  ): Promise<PageResult> {
    return this.finish.run(interaction, user, {
      passwordVerifiedAt: interaction.passwordVerifiedAt,
      amr: bothFactors,
      details: { second_factor: verifiedBy },
    });
  }
}
