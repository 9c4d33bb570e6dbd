import type { Database } from '@fulfilment/database';
import { createUser, type CreatedUser, type NewUser } from '../src/accounts/create-user.js';

/** As the operator does it, who cannot reach Redis: the running service tells of what ended. */
export function makeUser(database: Database, user: NewUser): Promise<CreatedUser> {
  return createUser(database, user, () => Promise.resolve());
}
