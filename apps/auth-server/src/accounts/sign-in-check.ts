import { interactionPolicy } from 'oidc-provider';
import type { ReadAccounts, SignInLimits } from './read-accounts.js';

/** A sign-in that is too old, or with a password that was changed since, is not good any more, even one that was still under way. */
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
