import { operatorCommand } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { changeRole, roleChange } from '../accounts/change-role.js';
import { createOrganisation, newOrganisation } from '../accounts/create-organisation.js';
import { createUser, newPassword, newUser } from '../accounts/create-user.js';
import { disableUser, enableUser } from '../accounts/disable-user.js';
import { setPassword } from '../accounts/set-password.js';
import { resetSecondFactor } from '../second-factor/reset-second-factor.js';
import type { OperatorContext } from './operator-context.js';

const USER = z.string('is missing').min(1, 'must not be empty');

/** Organisations, and the people in them. USER is a UUID or an e-mail address. */
export const accountCommands = {
  'organisation create': operatorCommand({
    flags: { name: 'text', id: 'text' },
    arguments: newOrganisation,
    run: ({ database }: OperatorContext, organisation) => createOrganisation(database, organisation),
  }),
  'user create': operatorCommand({
    flags: { email: 'text', password: 'text', name: 'text', organisation: 'text', role: 'text' },
    arguments: newUser,
    run: ({ database, tell }: OperatorContext, user) => createUser(database, user, tell),
  }),
  'user disable': operatorCommand({
    operands: ['USER'],
    arguments: z.object({ USER }),
    run: ({ database, outbox, tell }: OperatorContext, given) =>
      disableUser(database, outbox, tell, given.USER),
  }),
  'user enable': operatorCommand({
    operands: ['USER'],
    arguments: z.object({ USER }),
    run: ({ database }: OperatorContext, given) => enableUser(database, given.USER),
  }),
  'user password': operatorCommand({
    operands: ['USER'],
    flags: { password: 'text' },
    arguments: z.object({ USER, password: newPassword }),
    run: ({ database, tell }: OperatorContext, given) =>
      setPassword(database, tell, given.USER, given.password),
  }),
  'user reset-second-factor': operatorCommand({
    operands: ['USER'],
    arguments: z.object({ USER }),
    run: ({ database, tell }: OperatorContext, given) => resetSecondFactor(database, tell, given.USER),
  }),
  'user role': operatorCommand({
    operands: ['USER'],
    flags: { role: 'text', organisation: 'text' },
    arguments: roleChange,
    run: ({ database, outbox, tell }: OperatorContext, change) => changeRole(database, outbox, tell, change),
  }),
};
