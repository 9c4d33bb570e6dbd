import { Module } from '@nestjs/common';
import { OidcModule } from '../oidc/oidc.module.js';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { AccountController } from './account.controller.js';
import { CompleteAccountSignIn } from './complete-account-sign-in.js';
import { ChangeName } from './change-name.js';
import { ChangePassword } from './change-password.js';
import { ChangeSecondFactor } from './change-second-factor.js';
import { ConfirmPassword } from './confirm-password.js';
import { DisconnectApp } from './disconnect-app.js';
import { SetUpSecondFactor } from './set-up-second-factor.js';
import { ShowOverview } from './show-overview.js';
import { ShowBrowsers } from './show-browsers.js';
import { ShowConnectedApps } from './show-connected-apps.js';
import { ShowSecurity } from './show-security.js';
import { SignOutBrowser } from './sign-out-browser.js';

@Module({
  imports: [OidcModule, SignInModule],
  controllers: [AccountController],
  providers: [
    CompleteAccountSignIn,
    ChangeName,
    ChangePassword,
    ChangeSecondFactor,
    ConfirmPassword,
    DisconnectApp,
    SetUpSecondFactor,
    ShowOverview,
    ShowBrowsers,
    ShowConnectedApps,
    ShowSecurity,
    SignOutBrowser,
  ],
})
export class AccountPagesModule {}
