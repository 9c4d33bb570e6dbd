import { statement } from '@fulfilment/database';

/** Invalidates sign-ins with the previous password (sign-in-check.ts). */
export const updatePassword = statement(
  'users.set-password',
  'UPDATE users SET password_hash = $2, password_changed_at = now() WHERE id = $1',
);
