import { Controller, Get, Post, Req, Res, UseFilters } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AbortInteraction } from './abort-interaction.js';
import { GiveConsent } from './give-consent.js';
import { deliver } from './outcome.js';
import { ProblemPageFilter } from './problem-page.filter.js';
import { ShowInteraction } from './show-interaction.js';
import { SignIn } from './sign-in.js';

/** The pages between an app's request and its answer. */
@Controller('interaction/:uid')
@UseFilters(ProblemPageFilter)
export class InteractionController {
  constructor(
    private readonly showInteraction: ShowInteraction,
    private readonly signIn: SignIn,
    private readonly giveConsent: GiveConsent,
    private readonly abortInteraction: AbortInteraction,
  ) {}

  @Get()
  async show(@Req() request: Request, @Res() response: Response): Promise<void> {
    deliver(response, await this.showInteraction.run(request, response));
  }

  @Post('login')
  async login(@Req() request: Request, @Res() response: Response): Promise<void> {
    deliver(response, await this.signIn.run(request, response));
  }

  @Post('consent')
  async consent(@Req() request: Request, @Res() response: Response): Promise<void> {
    deliver(response, await this.giveConsent.run(request, response));
  }

  @Post('abort')
  async abort(@Req() request: Request, @Res() response: Response): Promise<void> {
    deliver(response, await this.abortInteraction.run(request, response));
  }
}
