import { interactionPolicy } from 'oidc-provider';
import type { SecondFactors } from './second-factors.js';

/** `amr` of a session with both factors (RFC 8176 §2). */
export const bothFactors = ['pwd', 'otp', 'mfa'] as const;
export const passwordOnly = ['pwd'] as const;

/** Whether a session has both factors. */
export function isMfaAuthenticated(amr: readonly string[] | undefined): boolean {
  return amr?.includes('otp') === true;
}

/** Requires a new sign-in when the account needs a second factor and the session has only the password. */
export function secondFactorCheck(factors: SecondFactors): interactionPolicy.Check {
  return new interactionPolicy.Check(
    'second_factor_missing',
    'End-User authentication with a second factor is required',
    'login_required',
    async ({ oidc: { session } }) =>
      session?.accountId !== undefined &&
      !isMfaAuthenticated(session.amr) &&
      (await factors.isNeeded(session.accountId)),
  );
}
