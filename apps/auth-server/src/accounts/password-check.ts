import { interactionPolicy } from 'oidc-provider';
import type { ReadAccounts } from './read-accounts.js';

/** A sign-in with a password that was changed since is none any more, even one that was still under way. */
export function passwordCheck(accounts: ReadAccounts): interactionPolicy.Check {
  return new interactionPolicy.Check(
    'password_changed',
    'End-User authentication with the new password is required',
    'login_required',
    async ({ oidc: { session } }) =>
      session?.accountId !== undefined &&
      (await accounts.passwordChangedSince(session.accountId, session.loginTs ?? 0)),
  );
}
