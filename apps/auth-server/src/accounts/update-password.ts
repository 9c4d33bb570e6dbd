import { statement } from '@fulfilment/database';

/** Sign-ins with the one before are none any more (sign-in-check.ts). */
export const updatePassword = statement(
  'users.set-password',
  'UPDATE users SET password_hash = $2, password_changed_at = now() WHERE id = $1',
);
