import { Controller, Get, Post, Query, UseFilters, UseInterceptors } from '@nestjs/common';
import { Context } from '../pages/browser-request.js';
import { notSignedInPage } from '../pages/message.page.js';
import { type PageResult, PageResultInterceptor } from '../pages/page-result.interceptor.js';
import { ProblemPageFilter } from '../pages/problem-page.filter.js';
import { ChangeName } from './change-name.js';
import { ChangePassword } from './change-password.js';
import { ChangeSecondFactor } from './change-second-factor.js';
import { CompleteAccountSignIn } from './complete-account-sign-in.js';
import { ManageBrowsers } from './manage-browsers.js';
import { ManageConnectedApps } from './manage-connected-apps.js';
import { SetUpSecondFactor } from './set-up-second-factor.js';
import { ShowOverview } from './show-overview.js';
import { ShowSecurity } from './show-security.js';
import { type SignedInRequest, SignedInPipe } from './signed-in.pipe.js';

@Controller('account')
@UseFilters(ProblemPageFilter)
@UseInterceptors(PageResultInterceptor)
export class AccountController {
  constructor(
    private readonly showOverview: ShowOverview,
    private readonly changeName: ChangeName,
    private readonly completeAccountSignIn: CompleteAccountSignIn,
    private readonly manageConnectedApps: ManageConnectedApps,
    private readonly manageBrowsers: ManageBrowsers,
    private readonly showSecurity: ShowSecurity,
    private readonly changePassword: ChangePassword,
    private readonly setUpSecondFactor: SetUpSecondFactor,
    private readonly changeSecondFactor: ChangeSecondFactor,
  ) {}

  @Get()
  overview(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.showOverview.run(signedIn);
  }

  @Post('name')
  name(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.changeName.run(signedIn);
  }

  @Get('signed-in')
  completeSignIn(@Query() query: Record<string, unknown>): Promise<PageResult> {
    return this.completeAccountSignIn.run(query);
  }

  @Get('signed-out')
  signedOut(): PageResult {
    return notSignedInPage();
  }

  @Get('apps')
  apps(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.manageConnectedApps.show(signedIn);
  }

  @Post('apps/disconnect')
  disconnect(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.manageConnectedApps.disconnect(signedIn);
  }

  @Get('browsers')
  browsers(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.manageBrowsers.show(signedIn);
  }

  @Post('browsers/sign-out')
  signOut(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.manageBrowsers.signOut(signedIn);
  }

  @Get('security')
  security(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.showSecurity.run(signedIn);
  }

  @Post('security/password')
  password(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.changePassword.run(signedIn);
  }

  @Get('security/second-factor')
  secondFactor(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.setUpSecondFactor.show(signedIn);
  }

  @Post('security/second-factor')
  confirmSecondFactor(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.setUpSecondFactor.confirm(signedIn);
  }

  @Post('security/second-factor/begin')
  beginSecondFactor(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.setUpSecondFactor.begin(signedIn);
  }

  @Post('security/second-factor/remove')
  removeSecondFactor(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.changeSecondFactor.remove(signedIn);
  }

  @Post('security/recovery-codes')
  recoveryCodes(@Context(SignedInPipe) signedIn: SignedInRequest): Promise<PageResult> {
    return this.changeSecondFactor.renewRecoveryCodes(signedIn);
  }
}
