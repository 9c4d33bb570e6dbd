import { Module } from '@nestjs/common';
import { OidcModule } from '../oidc/oidc.module.js';
import { FormTokens } from '../pages/form-tokens.js';
import { InteractionController } from './interaction.controller.js';
import { AbortInteraction } from './abort-interaction.js';
import { SecondFactorPrompt } from './second-factor-prompt.js';
import { DeviceCookies } from './device-cookies.js';
import { FinishSignIn } from './finish-sign-in.js';
import { GiveConsent } from './give-consent.js';
import { GuessCounts } from './throttling/guess-counts.js';
import { VerifySecondFactor } from './verify-second-factor.js';
import { ShowInteraction } from './show-interaction.js';
import { SignInThrottle } from './throttling/sign-in-throttle.js';
import { SignIn } from './sign-in.js';

@Module({
  imports: [OidcModule],
  controllers: [InteractionController],
  providers: [
    AbortInteraction,
    SecondFactorPrompt,
    DeviceCookies,
    FinishSignIn,
    FormTokens,
    GiveConsent,
    GuessCounts,
    VerifySecondFactor,
    ShowInteraction,
    SignIn,
    SignInThrottle,
  ],
  exports: [DeviceCookies, FormTokens, GuessCounts, SignInThrottle],
})
export class SignInModule {}
