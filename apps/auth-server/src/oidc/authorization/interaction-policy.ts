import { interactionPolicy } from 'oidc-provider';
import type { ReadAccounts, SignInLimits } from '../../users/read-accounts.js';
import { signInCheck } from '../../accounts/sign-in-check.js';
import { secondFactorCheck } from '../../second-factor/second-factor-check.js';
import type { SecondFactors } from '../../second-factor/second-factors.js';
import { isFirstParty } from './grants.js';

const nativePrompt = 'native_client_prompt';

/**
 * Decides when a page is shown: sign-in without a valid session, consent without a Grant. Native apps need
 * consent each time (RFC 8252 §8.6), first-party apps only for `prompt=consent`.
 */
export function buildInteractionPolicy(
  accounts: ReadAccounts,
  factors: SecondFactors,
  limits: SignInLimits,
): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const login = policy.get('login');
  const consent = policy.get('consent');
  if (login === undefined || consent === undefined)
    throw new Error('oidc-provider no longer has the prompts login and consent.');
  login.checks.add(secondFactorCheck(factors));
  login.checks.add(signInCheck(accounts, limits));
  consent.checks.remove(nativePrompt);
  consent.checks.add(
    new interactionPolicy.Check(
      nativePrompt,
      'native clients require End-User interaction',
      'interaction_required',
      ({ oidc }) =>
        oidc.client?.applicationType === 'native' &&
        !isFirstParty(oidc.client) &&
        oidc.result?.consent === undefined,
    ),
  );
  return policy;
}
