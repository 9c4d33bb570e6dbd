import { Controller, Get, Post, Req, Res, UseFilters } from '@nestjs/common';
import type { Request, Response } from 'express';
import { sendOutcome } from '../pages/outcome.js';
import { ProblemPageFilter } from '../pages/problem-page.filter.js';
import { AbortInteraction } from './abort-interaction.js';
import { GiveConsent } from './give-consent.js';
import { ProveSecondFactor } from './prove-second-factor.js';
import { ShowInteraction } from './show-interaction.js';
import { SignIn } from './sign-in.js';

/** The pages of a sign-in and a consent. */
@Controller('interaction/:uid')
@UseFilters(ProblemPageFilter)
export class InteractionController {
  constructor(
    private readonly showInteraction: ShowInteraction,
    private readonly signIn: SignIn,
    private readonly proveSecondFactor: ProveSecondFactor,
    private readonly giveConsent: GiveConsent,
    private readonly abortInteraction: AbortInteraction,
  ) {}

  @Get()
  async show(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.showInteraction.run(request, response));
  }

  @Post('login')
  async login(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.signIn.run(request, response));
  }

  @Post('second-factor')
  async secondFactor(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.proveSecondFactor.run(request, response));
  }

  @Post('second-factor/setup')
  async secondFactorSetup(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.proveSecondFactor.setUp(request, response));
  }

  @Post('second-factor/done')
  async secondFactorDone(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.proveSecondFactor.done(request, response));
  }

  @Post('start-over')
  async startOver(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.proveSecondFactor.startOver(request, response));
  }

  @Post('consent')
  async consent(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.giveConsent.run(request, response));
  }

  @Post('abort')
  async abort(@Req() request: Request, @Res() response: Response): Promise<void> {
    sendOutcome(response, await this.abortInteraction.run(request, response));
  }
}
