import { Module } from '@nestjs/common';
import { OidcModule } from '../oidc/oidc.module.js';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { AccountController } from './account.controller.js';
import { CompleteAccountSignIn } from './complete-account-sign-in.js';
import { ChangeName } from './change-name.js';
import { ChangePassword } from './change-password.js';
import { ChangeSecondFactor } from './change-second-factor.js';
import { ConfirmCode } from './confirm-code.js';
import { ConfirmPassword } from './confirm-password.js';
import { ManageBrowsers } from './manage-browsers.js';
import { ManageConnectedApps } from './manage-connected-apps.js';
import { SetUpSecondFactor } from './set-up-second-factor.js';
import { ShowOverview } from './show-overview.js';
import { ShowSecurity } from './show-security.js';

@Module({
  imports: [OidcModule, SignInModule],
  controllers: [AccountController],
  providers: [
    CompleteAccountSignIn,
    ChangeName,
    ChangePassword,
    ChangeSecondFactor,
    ConfirmCode,
    ConfirmPassword,
    ManageBrowsers,
    ManageConnectedApps,
    SetUpSecondFactor,
    ShowOverview,
    ShowSecurity,
  ],
})
export class AccountPagesModule {}
