import { interactionPolicy } from 'oidc-provider';
import type { ReadAccounts, SignInLimits } from '../users/read-accounts.js';

/**
 * Requires a new sign-in when the last one is too old or older than the password, and for a disabled person:
 * a sign-in that was in progress when the operator disabled the person may store a session afterwards.
 * oidc-provider repeats the check when an interaction resumes, so a change of the password during an
 * interaction requires a new sign-in, too.
 */
export function signInCheck(accounts: ReadAccounts, limits: SignInLimits): interactionPolicy.Check {
  return new interactionPolicy.Check(
    'sign_in_expired',
    'End-User authentication is required again',
    'login_required',
    async ({ oidc: { session } }) =>
      session?.accountId !== undefined &&
      (await accounts.isSignInExpired(session.accountId, session.loginTs ?? 0, limits)),
  );
}
