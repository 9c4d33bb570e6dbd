import { defineCommand } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { resealSecrets } from '../keys/reseal-secrets.js';
import { SigningKeys } from '../keys/signing-keys.js';
import type { OperatorContext } from './operator-context.js';

const signingKeys = ({ database, secrets, clock }: OperatorContext) =>
  new SigningKeys(database, secrets, clock);

/** Commands for signing keys, and for the keys that seal secrets. */
export const keyCommands = {
  'keys list': defineCommand({
    arguments: z.object({}),
    run: async (context: OperatorContext) => ({ keys: await signingKeys(context).list() }),
  }),
  'keys rotate': defineCommand({
    arguments: z.object({}),
    run: async (context: OperatorContext) => ({ active: await signingKeys(context).rotate() }),
  }),
  'keys remove': defineCommand({
    operands: ['KEY'],
    arguments: z.object({ KEY: z.string('is missing').min(1, 'must not be empty') }),
    run: async (context: OperatorContext, { KEY }) => {
      await signingKeys(context).remove(KEY);
      return { kid: KEY, removed: true };
    },
  }),
  'keys reseal': defineCommand({
    arguments: z.object({}),
    run: ({ database, secrets }: OperatorContext) => resealSecrets(database, secrets),
  }),
};
