import { interactionPolicy } from 'oidc-provider';
import type { ReadAccounts, SignInLimits } from '../users/read-accounts.js';

/**
 * Requires a new sign-in when the last is too old, or before a change of the password. Also ends sign-ins in
 * progress.
 */
export function signInCheck(accounts: ReadAccounts, limits: SignInLimits): interactionPolicy.Check {
  return new interactionPolicy.Check(
    'sign_in_over',
    'End-User authentication is required again',
    'login_required',
    async ({ oidc: { session } }) =>
      session?.accountId !== undefined &&
      (await accounts.isSignInOver(session.accountId, session.loginTs ?? 0, limits)),
  );
}
