const hour = 3600;
const day = 24 * hour;

/** How long each thing lives, in seconds (docs/decisions.md, "Authorization server"). */
export const lifetimes = {
  authorizationCode: 120,
  accessToken: hour,
  idToken: hour,
  refreshToken: 30 * day,
  family: 90 * day,
  session: 14 * day,
  interaction: hour / 2,
} as const;

/** A refresh token slides 30 days at a time, and never beyond its family's 90. @param familyStartedAt in seconds since 1970 */
export function refreshTokenLifetime(familyStartedAt: number, now: number): number {
  return Math.max(1, Math.min(lifetimes.refreshToken, familyStartedAt + lifetimes.family - now));
}
