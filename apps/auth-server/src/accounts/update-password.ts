import { statement } from '@fulfilment/database';

/** Sets the hash and `password_changed_at`; sign-in-check.ts rejects sign-ins from before that time. */
export const updatePassword = statement(
  'users.set-password',
  'UPDATE users SET password_hash = $2, password_changed_at = now() WHERE id = $1',
);
