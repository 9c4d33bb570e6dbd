import { html } from '@fulfilment/http-service';
import { Controller, Get, Post, Req, Res, UseFilters } from '@nestjs/common';
import type { Request, Response } from 'express';
import { messagePage } from '../pages/message.page.js';
import { sendOutcome } from '../pages/outcome.js';
import { ProblemPageFilter } from '../pages/problem-page.filter.js';
import { ChangeName } from './change-name.js';
import { ChangePassword } from './change-password.js';
import { ChangeSecondFactor } from './change-second-factor.js';
import { CompleteAccountSignIn } from './complete-account-sign-in.js';
import { DisconnectApp } from './disconnect-app.js';
import { SetUpSecondFactor } from './set-up-second-factor.js';
import { ShowOverview } from './show-overview.js';
import { ShowBrowsers } from './show-browsers.js';
import { ShowConnectedApps } from './show-connected-apps.js';
import { ShowSecurity } from './show-security.js';
import { SignOutBrowser } from './sign-out-browser.js';

/** The account pages. */
@Controller('account')
@UseFilters(ProblemPageFilter)
export class AccountController {
  constructor(
    private readonly showOverview: ShowOverview,
    private readonly changeName: ChangeName,
    private readonly completeSignIn: CompleteAccountSignIn,
    private readonly showConnectedApps: ShowConnectedApps,
    private readonly disconnectApp: DisconnectApp,
    private readonly showBrowsers: ShowBrowsers,
    private readonly signOutBrowser: SignOutBrowser,
    private readonly showSecurity: ShowSecurity,
    private readonly changePassword: ChangePassword,
    private readonly setUpSecondFactor: SetUpSecondFactor,
    private readonly changeSecondFactor: ChangeSecondFactor,
  ) {}

  @Get()
  async overview(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.showOverview.run(request, response));
  }

  @Post('name')
  async name(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.changeName.run(request, response));
  }

  @Get('signed-in')
  async signedIn(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.completeSignIn.run(request));
  }

  @Get('signed-out')
  signedOut(@Res() response: Response): void {
    const more = html`<p><a class="button" href="/account">Sign in</a></p>`;
    sendOutcome(
      response,
      messagePage({
        title: 'You are not signed in',
        text: 'Sign in to manage your account.',
        status: 200,
        more,
      }),
    );
  }

  @Get('apps')
  async apps(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.showConnectedApps.run(request, response));
  }

  @Post('apps/disconnect')
  async disconnect(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.disconnectApp.run(request, response));
  }

  @Get('browsers')
  async browsers(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.showBrowsers.run(request, response));
  }

  @Post('browsers/sign-out')
  async signOut(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.signOutBrowser.run(request, response));
  }

  @Get('security')
  async security(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.showSecurity.run(request, response));
  }

  @Post('security/password')
  async password(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.changePassword.run(request, response));
  }

  @Get('security/second-factor')
  async secondFactor(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.setUpSecondFactor.show(request, response));
  }

  @Post('security/second-factor')
  async confirmSecondFactor(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.setUpSecondFactor.confirm(request, response));
  }

  @Post('security/second-factor/begin')
  async beginSecondFactor(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.setUpSecondFactor.begin(request, response));
  }

  @Post('security/second-factor/remove')
  async removeSecondFactor(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.changeSecondFactor.remove(request, response));
  }

  @Post('security/recovery-codes')
  async recoveryCodes(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.changeSecondFactor.renewRecoveryCodes(request, response));
  }
}
