import { defineCommand, textArgument } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { resealSecrets } from '../keys/reseal-secrets.js';
import { SigningKeys } from '../keys/signing-keys.js';
import type { OperatorContext } from './operator-context.js';

const signingKeys = ({ database, secrets, clock }: OperatorContext) =>
  new SigningKeys(database, secrets, clock);

/** Commands for signing keys, and for the keys that seal secrets. */
export const keyCommands = {
  'keys list': defineCommand({
    summary: 'lists the signing keys',
    arguments: z.object({}),
    run: async (context: OperatorContext) => ({ keys: await signingKeys(context).list() }),
  }),
  'keys rotate': defineCommand({
    summary: 'activates the next signing keys',
    arguments: z.object({}),
    run: async (context: OperatorContext) => ({ active: await signingKeys(context).rotate() }),
  }),
  'keys remove': defineCommand({
    summary:
      'removes a leaked key: the APIs then reject every token that it signed, while introspection and UserInfo accept issued tokens until they expire',
    operands: ['KEY'],
    arguments: z.object({ KEY: textArgument() }),
    run: async (context: OperatorContext, { KEY }) => {
      await signingKeys(context).remove(KEY);
      return { kid: KEY, removed: true };
    },
  }),
  'keys reseal': defineCommand({
    summary:
      're-encrypts signing keys, client secrets and second factors with the newest key, so that old keys can be removed',
    arguments: z.object({}),
    run: ({ database, secrets }: OperatorContext) => resealSecrets(database, secrets),
  }),
};
