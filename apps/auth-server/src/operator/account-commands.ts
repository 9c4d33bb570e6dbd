import { defineCommand, textArgument } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { changeRole, changeRoleOptions } from '../accounts/change-role.js';
import { createOrganisation, createOrganisationOptions } from '../accounts/create-organisation.js';
import { createOrUpdateUser, createUserOptions } from '../accounts/create-or-update-user.js';
import { disableUser, enableUser } from '../accounts/disable-user.js';
import { redactUser } from '../accounts/redact-user.js';
import { setPassword } from '../accounts/set-password.js';
import { resetSecondFactor } from '../second-factor/reset-second-factor.js';
import { readPassword } from './read-password.js';
import type { OperatorContext } from './operator-context.js';

const USER = textArgument();

/** Commands for organisations and users. USER is a UUID or an e-mail address. */
export const accountCommands = {
  'organisation create': defineCommand({
    summary: 'creates an organisation',
    options: ['--name <NAME>', '--id <ID>'],
    arguments: createOrganisationOptions,
    run: ({ database }: OperatorContext, organisation) => createOrganisation(database, organisation),
  }),
  'user create': defineCommand({
    summary:
      'creates an account; if one with the same options exists, sets its password, and a changed password ends its sessions and tokens; the role is owner, admin, member or global_admin; `-` prompts for the password',
    options: [
      '--email <EMAIL>',
      '--password <PASSWORD|->',
      '--name <NAME>',
      '--organisation <ORGANISATION>',
      '--role <ROLE>',
    ],
    arguments: createUserOptions,
    run: async (context: OperatorContext, user) => {
      const password = await readPassword(context, user.password);
      return createOrUpdateUser(context.database, { ...user, password }, context.publishRevoked);
    },
  }),
  'user disable': defineCommand({
    summary: 'disables an account and ends its sessions, tokens and the access that apps had only through it',
    operands: ['USER'],
    arguments: z.object({ USER }),
    run: ({ database, outbox, publishRevoked }: OperatorContext, args) =>
      disableUser(database, outbox, publishRevoked, args.USER),
  }),
  'user enable': defineCommand({
    summary: 'enables a disabled account',
    operands: ['USER'],
    arguments: z.object({ USER }),
    run: ({ database, outbox }: OperatorContext, args) => enableUser(database, outbox, args.USER),
  }),
  'user redact': defineCommand({
    summary: 'redacts the personal data of an account and closes it permanently',
    operands: ['USER'],
    arguments: z.object({ USER }),
    run: ({ database, outbox, publishRevoked }: OperatorContext, args) =>
      redactUser(database, outbox, publishRevoked, args.USER),
  }),
  'user password': defineCommand({
    summary: 'sets a password; ends all sessions and tokens, including those of apps',
    options: ['--password <PASSWORD|->'],
    operands: ['USER'],
    arguments: z.object({ USER, password: z.string('is missing') }),
    run: async (context: OperatorContext, args) => {
      const password = await readPassword(context, args.password);
      return setPassword(context.database, context.publishRevoked, args.USER, password);
    },
  }),
  'user reset-second-factor': defineCommand({
    summary: 'removes a lost second factor; ends the browser sessions',
    operands: ['USER'],
    arguments: z.object({ USER }),
    run: ({ database, publishRevoked }: OperatorContext, args) =>
      resetSecondFactor(database, publishRevoked, args.USER),
  }),
  'user role': defineCommand({
    summary:
      'assigns a role or removes it (`none`, with --organisation unless the user is a global_admin); revokes existing access tokens',
    options: ['--role <owner|admin|member|global_admin|none>', '--organisation <ORGANISATION>'],
    operands: ['USER'],
    arguments: changeRoleOptions,
    run: ({ database, outbox, publishRevoked }: OperatorContext, change) =>
      changeRole(database, outbox, publishRevoked, change),
  }),
};
