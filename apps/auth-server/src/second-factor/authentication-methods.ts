/** `amr` of a session with both factors (RFC 8176 §2). */
export const bothFactors = ['pwd', 'otp', 'mfa'] as const;
export const passwordOnly = ['pwd'] as const;

/** Whether a session has both factors. */
export function isMfaAuthenticated(amr: readonly string[] | undefined): boolean {
  return amr?.includes('otp') === true;
}
