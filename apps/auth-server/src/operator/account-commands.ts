import { defineCommand } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { changeRole, roleChange } from '../accounts/change-role.js';
import { createOrganisation, newOrganisation } from '../accounts/create-organisation.js';
import { createUser, newUser } from '../accounts/create-user.js';
import { disableUser, enableUser } from '../accounts/disable-user.js';
import { redactUser } from '../accounts/redact-user.js';
import { setPassword } from '../accounts/set-password.js';
import { resetSecondFactor } from '../second-factor/reset-second-factor.js';
import { givenPassword } from './given-password.js';
import type { OperatorContext } from './operator-context.js';

const USER = z.string('is missing').min(1, 'must not be empty');

/** Commands for organisations and users. USER is a UUID or an e-mail address. */
export const accountCommands = {
  'organisation create': defineCommand({
    flags: { name: 'text', id: 'text' },
    arguments: newOrganisation,
    run: ({ database }: OperatorContext, organisation) => createOrganisation(database, organisation),
  }),
  'user create': defineCommand({
    flags: { email: 'text', password: 'text', name: 'text', organisation: 'text', role: 'text' },
    arguments: newUser,
    run: async (context: OperatorContext, user) => {
      const password = await givenPassword(context, user.password);
      return createUser(context.database, { ...user, password }, context.publishRevoked);
    },
  }),
  'user disable': defineCommand({
    operands: ['USER'],
    arguments: z.object({ USER }),
    run: ({ database, outbox, publishRevoked }: OperatorContext, given) =>
      disableUser(database, outbox, publishRevoked, given.USER),
  }),
  'user enable': defineCommand({
    operands: ['USER'],
    arguments: z.object({ USER }),
    run: ({ database }: OperatorContext, given) => enableUser(database, given.USER),
  }),
  'user redact': defineCommand({
    operands: ['USER'],
    arguments: z.object({ USER }),
    run: ({ database, outbox, publishRevoked }: OperatorContext, given) =>
      redactUser(database, outbox, publishRevoked, given.USER),
  }),
  'user password': defineCommand({
    operands: ['USER'],
    flags: { password: 'text' },
    arguments: z.object({ USER, password: z.string('is missing') }),
    run: async (context: OperatorContext, given) => {
      const password = await givenPassword(context, given.password);
      return setPassword(context.database, context.publishRevoked, given.USER, password);
    },
  }),
  'user reset-second-factor': defineCommand({
    operands: ['USER'],
    arguments: z.object({ USER }),
    run: ({ database, publishRevoked }: OperatorContext, given) =>
      resetSecondFactor(database, publishRevoked, given.USER),
  }),
  'user role': defineCommand({
    operands: ['USER'],
    flags: { role: 'text', organisation: 'text' },
    arguments: roleChange,
    run: ({ database, outbox, publishRevoked }: OperatorContext, change) =>
      changeRole(database, outbox, publishRevoked, change),
  }),
};
