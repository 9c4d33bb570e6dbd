import { interactionPolicy } from 'oidc-provider';
import { isFirstParty } from './grants.js';

const nativeAsked = 'native_client_prompt';

/** When the person is asked: sign in without a session, consent without a grant. Native apps are asked each time (RFC 8252 §8.6), ours never. */
export function interactionRules(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const consent = policy.get('consent');
  if (consent === undefined) throw new Error('oidc-provider no longer has a consent prompt.');
  consent.checks.remove(nativeAsked);
  consent.checks.add(
    new interactionPolicy.Check(
      nativeAsked,
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
