import { statement } from '@fulfilment/database';

/** Sets the hash and `password_changed_at`; interaction-policy.ts rejects sign-ins from before that time. */
export const setPasswordHash = statement(
  'users.set-password',
  'UPDATE users SET password_hash = $2, password_changed_at = now() WHERE id = $1',
);

/**
 * Replaces a hash that was verified before. Changes no row if the password has changed since, or the user was
 * disabled: someone who knows only the old password must not overwrite the new one.
 */
export const replacePasswordHashIfUnchanged = statement(
  'users.replace-password',
  `UPDATE users SET password_hash = $3, password_changed_at = now()
   WHERE id = $1 AND password_hash = $2 AND disabled_at IS NULL`,
);
