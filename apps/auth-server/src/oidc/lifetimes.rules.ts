import { accessTokenLifetimeSeconds } from '@fulfilment/contracts';

const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;

/**
 * Lifetimes in seconds. A refresh token that is not used expires after `refreshToken` (RFC 9700 §4.14.2), and
 * at the latest with its family.
 */
export const lifetimeSeconds = {
  authorizationCode: 120, // RFC 6749 §4.1.2 recommends at most ten minutes
  accessToken: accessTokenLifetimeSeconds,
  idToken: hourSeconds,
  refreshToken: 30 * daySeconds,
  family: 90 * daySeconds,
  session: 14 * daySeconds,
  interaction: hourSeconds / 2,
} as const;

/**
 * Returns the lifetime of a Grant in seconds. It lives as long as the last possible token of its family: with
 * `offline_access` the access token of the last refresh, otherwise that of the exchange. The family starts
 * with the exchange of the code, which may come long after the Grant was stored.
 */
export function grantLifetimeSeconds(scopes: readonly string[]): number {
  const { accessToken, authorizationCode, family, interaction } = lifetimeSeconds;
  const refreshes = scopes.includes('offline_access') ? family : 0;
  return interaction + authorizationCode + refreshes + accessToken;
}

/**
 * Returns the lifetime of a refresh token in seconds: each refresh extends it by 30 days, up to the 90 days
 * of its family, and at least one second, since oidc-provider accepts no less.
 * @param familyStartedAt in seconds since 1970, like `now`
 */
export function refreshTokenLifetimeSeconds(familyStartedAt: number, now: number): number {
  return Math.max(1, Math.min(lifetimeSeconds.refreshToken, familyStartedAt + lifetimeSeconds.family - now));
}
