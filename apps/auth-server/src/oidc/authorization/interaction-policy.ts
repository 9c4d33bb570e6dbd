import { interactionPolicy } from 'oidc-provider';
import { isMfaAuthenticated } from '../../second-factor/authentication-methods.js';
import type { SecondFactors } from '../../second-factor/second-factors.js';
import type { ReadAccounts } from '../../users/read-accounts.js';
import { isFirstParty } from './grants.js';

const { Check } = interactionPolicy;
const nativePrompt = 'native_client_prompt';

/**
 * Decides when a page is shown: sign-in without a valid session, consent without a Grant. Native apps need
 * consent each time (RFC 8252 §8.6), first-party apps only for `prompt=consent`.
 */
export function buildInteractionPolicy(
  accounts: ReadAccounts,
  factors: SecondFactors,
): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const login = policy.get('login');
  const consent = policy.get('consent');
  if (login === undefined || consent === undefined)
    throw new Error('oidc-provider no longer has the prompts login and consent.');
  login.checks.add(secondFactorCheck(factors));
  login.checks.add(signInCheck(accounts));
  consent.checks.remove(nativePrompt);
  consent.checks.add(nativeAppCheck());
  return policy;
}

/** Requires a new sign-in when the account needs a second factor and the session has only the password. */
function secondFactorCheck(factors: SecondFactors): interactionPolicy.Check {
  return new Check(
    'second_factor_missing',
    'End-User authentication with a second factor is required',
    'login_required',
    async ({ oidc: { session } }) =>
      session?.accountId !== undefined &&
      !isMfaAuthenticated(session.amr) &&
      (await factors.isNeeded(session.accountId)),
  );
}

/**
 * Requires a new sign-in when the last one is too old or older than the password, and for a disabled person:
 * a sign-in that was in progress when the operator disabled the person may store a session afterwards.
 * oidc-provider repeats the check when an interaction resumes, so a change of the password during an
 * interaction requires a new sign-in, too.
 */
function signInCheck(accounts: ReadAccounts): interactionPolicy.Check {
  return new Check(
    'sign_in_expired',
    'End-User authentication is required again',
    'login_required',
    async ({ oidc: { session } }) =>
      session?.accountId !== undefined &&
      (await accounts.isSignInExpired(session.accountId, session.loginTs ?? 0)),
  );
}

/** Replaces oidc-provider's check of this name, which also requires consent for first-party apps. */
function nativeAppCheck(): interactionPolicy.Check {
  return new Check(
    nativePrompt,
    'native clients require End-User interaction',
    'interaction_required',
    ({ oidc: { client, result } }) =>
      client?.applicationType === 'native' && !isFirstParty(client) && result?.consent === undefined,
  );
}
