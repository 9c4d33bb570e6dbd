import { textArgument, defineCommand, publishReplay } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { changeCreator, changeCreatorOptions } from '../creators/change-creator.js';
import { creatorOptions } from '../creators/creator-options.js';
import { replayCreators } from '../creators/replay-creators.js';
import { redactCreator } from '../creators/redact-creator.js';
import { createCreatorOptions, registerCreator } from '../creators/register-creator.js';
import type { OperatorContext } from './operator-context.js';

const creatorOptionUsage = [
  '--name <NAME>',
  '--payment-method <pm_…|none>',
  '--payment-terms <yes|no>',
  '--tax-interview <yes|no>',
  '--settlement-currency <CURRENCY>',
];

/** Commands for creators. CREATOR is a UUID or a `crt_` id. */
export const creatorCommands = {
  'creator create': defineCommand({
    summary:
      'registers a creator; the payment method is a `pm_…` of the provider or `none` (sandbox: `pm_ok`, `pm_declined`, `pm_timeout`)',
    options: ['--organisation <ORGANISATION>', ...creatorOptionUsage, '--test <yes|no>', '--id <UUID>'],
    arguments: createCreatorOptions,
    run: ({ database, outbox }: OperatorContext, creator) => registerCreator(database, outbox, creator),
  }),
  'creator change': defineCommand({
    summary: 'changes the name, payment method, terms, tax interview or currency',
    operands: ['CREATOR'],
    options: creatorOptionUsage,
    arguments: changeCreatorOptions,
    run: ({ database, outbox }: OperatorContext, change) => changeCreator(database, outbox, change),
  }),
  'creator payment-method': defineCommand({
    summary: 'changes the payment method of a creator',
    operands: ['CREATOR', 'METHOD'],
    arguments: z.object({
      CREATOR: textArgument(),
      METHOD: creatorOptions['payment-method'],
    }),
    run: ({ database, outbox }: OperatorContext, { CREATOR: creator, METHOD: paymentMethod }) =>
      changeCreator(database, outbox, { creator, paymentMethod }),
  }),
  'creator redact': defineCommand({
    summary: 'redacts the name and payment method; orders, royalties and artist names of releases stay',
    operands: ['CREATOR'],
    arguments: z.object({ CREATOR: textArgument() }),
    run: ({ database, outbox }: OperatorContext, { CREATOR }) => redactCreator(database, outbox, CREATOR),
  }),
  'creators republish': defineCommand({
    summary: 'replays all creators to creator-api',
    arguments: z.object({}),
    run: ({ database, broker, clock }: OperatorContext) =>
      publishReplay(broker, 'creator-api.replay', replayCreators(database, clock)),
  }),
};
