import { interactionPolicy } from 'oidc-provider';
import type { SecondFactors } from './second-factors.js';

/** What a session says when both factors were proved (RFC 8176 §2). */
export const bothFactors = ['pwd', 'otp', 'mfa'] as const;
export const passwordOnly = ['pwd'] as const;

/** Whether a session says so. */
export function saysBothFactors(amr: readonly string[] | undefined): boolean {
  return amr?.includes('otp') === true;
}

/** A session of the password alone is none for somebody who needs a second factor: they sign in again. */
export function secondFactorCheck(factors: SecondFactors): interactionPolicy.Check {
  return new interactionPolicy.Check(
    'second_factor_missing',
    'End-User authentication with a second factor is required',
    'login_required',
    async ({ oidc: { session } }) =>
      session?.accountId !== undefined &&
      !saysBothFactors(session.amr) &&
      (await factors.isNeeded(session.accountId)),
  );
}
