import { defineCommand, publishReplay } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { changeCreator, creatorChange } from '../creators/change-creator.js';
import { creatorFlags } from '../creators/creator-flags.js';
import { replayCreators } from '../creators/replay-creators.js';
import { redactCreator } from '../creators/redact-creator.js';
import { newCreator, registerCreator } from '../creators/register-creator.js';
import type { OperatorContext } from './operator-context.js';

const flags = {
  name: 'text',
  'payment-method': 'text',
  'payment-terms': 'text',
  'tax-interview': 'text',
  'settlement-currency': 'text',
} as const;

/** Commands for creators. CREATOR is a UUID or a `crt_` id. */
export const creatorCommands = {
  'creator create': defineCommand({
    flags: { ...flags, organisation: 'text', id: 'text' },
    arguments: newCreator,
    run: ({ database, outbox }: OperatorContext, creator) => registerCreator(database, outbox, creator),
  }),
  'creator change': defineCommand({
    operands: ['CREATOR'],
    flags,
    arguments: creatorChange,
    run: ({ database, outbox }: OperatorContext, change) => changeCreator(database, outbox, change),
  }),
  'creator payment-method': defineCommand({
    operands: ['CREATOR', 'METHOD'],
    arguments: z.object({
      CREATOR: z.string('is missing').min(1, 'must not be empty'),
      METHOD: creatorFlags['payment-method'],
    }),
    run: ({ database, outbox }: OperatorContext, { CREATOR: creator, METHOD: paymentMethod }) =>
      changeCreator(database, outbox, { creator, paymentMethod }),
  }),
  'creator redact': defineCommand({
    operands: ['CREATOR'],
    arguments: z.object({ CREATOR: z.string('is missing').min(1, 'must not be empty') }),
    run: ({ database, outbox }: OperatorContext, { CREATOR }) => redactCreator(database, outbox, CREATOR),
  }),
  'creators republish': defineCommand({
    arguments: z.object({}),
    run: ({ database, broker, clock }: OperatorContext) =>
      publishReplay(broker, 'creator-api.replay', replayCreators(database, clock)),
  }),
};
