import type { Database } from '@fulfilment/database';
import {
  createOrUpdateUser,
  type CreatedOrUpdatedUser,
  type NewUser,
} from '../accounts/create-or-update-user.js';

export const password = 'correct horse battery staple';

/** Creates a user like `user create`, but without Redis: the running service publishes revoked tokens. */
export function makeUser(database: Database, user: NewUser): Promise<CreatedOrUpdatedUser> {
  return createOrUpdateUser(database, user, () => Promise.resolve());
}

let users = 0;

/** Creates a user whom no other test uses, by default a member of org_harbour. */
export function newUser(
  { database }: { readonly database: Database },
  options: Partial<NewUser> = { organisation: 'org_harbour', role: 'member' },
): Promise<CreatedOrUpdatedUser> {
  users += 1;
  return makeUser(database, { email: `user-${users}@harbour.example`, password, ...options });
}
