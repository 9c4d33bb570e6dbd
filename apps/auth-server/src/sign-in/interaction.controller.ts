import { Controller, Get, Post, UseFilters, UseInterceptors } from '@nestjs/common';
import { Context } from '../pages/browser-request.js';
import { type PageResult, PageResultInterceptor } from '../pages/page-result.interceptor.js';
import { ProblemPageFilter } from '../pages/problem-page.filter.js';
import { AbortInteraction } from './abort-interaction.js';
import { GiveConsent } from './give-consent.js';
import { InteractionPipe, type OpenInteraction } from './interaction.pipe.js';
import { VerifySecondFactor } from './verify-second-factor.js';
import { ShowInteraction } from './show-interaction.js';
import { SignIn } from './sign-in.js';

/** The pages of a sign-in and a consent. */
@Controller('interaction/:uid')
@UseFilters(ProblemPageFilter)
@UseInterceptors(PageResultInterceptor)
export class InteractionController {
  constructor(
    private readonly showInteraction: ShowInteraction,
    private readonly signIn: SignIn,
    private readonly verifySecondFactor: VerifySecondFactor,
    private readonly giveConsent: GiveConsent,
    private readonly abortInteraction: AbortInteraction,
  ) {}

  @Get()
  show(@Context(InteractionPipe) interaction: OpenInteraction): Promise<PageResult> {
    return this.showInteraction.run(interaction);
  }

  @Post('login')
  login(@Context(InteractionPipe) interaction: OpenInteraction): Promise<PageResult> {
    return this.signIn.run(interaction);
  }

  @Post('second-factor')
  secondFactor(@Context(InteractionPipe) interaction: OpenInteraction): Promise<PageResult> {
    return this.verifySecondFactor.run(interaction);
  }

  @Post('second-factor/setup')
  secondFactorSetup(@Context(InteractionPipe) interaction: OpenInteraction): Promise<PageResult> {
    return this.verifySecondFactor.setUp(interaction);
  }

  @Post('second-factor/done')
  secondFactorDone(@Context(InteractionPipe) interaction: OpenInteraction): Promise<PageResult> {
    return this.verifySecondFactor.finishSetUp(interaction);
  }

  @Post('start-over')
  startOver(@Context(InteractionPipe) interaction: OpenInteraction): Promise<PageResult> {
    return this.verifySecondFactor.startOver(interaction);
  }

  @Post('consent')
  consent(@Context(InteractionPipe) interaction: OpenInteraction): Promise<PageResult> {
    return this.giveConsent.run(interaction);
  }

  @Post('abort')
  abort(@Context(InteractionPipe) interaction: OpenInteraction): Promise<PageResult> {
    return this.abortInteraction.run(interaction);
  }
}
