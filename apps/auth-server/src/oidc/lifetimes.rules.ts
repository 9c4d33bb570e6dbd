import { accessTokenLifetimeSeconds } from '@fulfilment/contracts';
import type { SignInLimits } from '../users/read-accounts.js';
import type { AuthServerSettings } from '../config.js';

const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;

/** Returns a moment in whole seconds since 1970, as sessions and tokens store it (RFC 7519 §2). */
export function numericDate(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}

/**
 * Lifetimes in seconds. A code lives at most ten minutes (RFC 6749 §4.1.2). A refresh token expires when it
 * is not used (RFC 9700 §4.14.2), and at the latest with its family.
 */
export const lifetimes = {
  authorizationCode: 120,
  accessToken: accessTokenLifetimeSeconds,
  idToken: hourSeconds,
  refreshToken: 30 * daySeconds,
  family: 90 * daySeconds,
  session: 14 * daySeconds,
  interaction: hourSeconds / 2,
} as const;

/**
 * A Grant lives as long as the last possible token of its family, which starts with the exchange of the code:
 * with `offline_access` the access token of the last refresh, otherwise the access token of the exchange.
 */
export function familyLifetime(scopes: readonly string[]): number {
  const { accessToken, authorizationCode, family, interaction } = lifetimes;
  const refreshes = scopes.includes('offline_access') ? family : 0;
  return interaction + authorizationCode + refreshes + accessToken;
}

/**
 * Returns the lifetime of a refresh token in seconds: each refresh extends it by 30 days, up to the 90 days
 * of its family, and at least one second, since oidc-provider accepts no less.
 * @param familyStartedAt in seconds since 1970, like `now`
 */
export function refreshTokenLifetime(familyStartedAt: number, now: number): number {
  return Math.max(1, Math.min(lifetimes.refreshToken, familyStartedAt + lifetimes.family - now));
}

/** Returns the age limits of a sign-in, which end a session even if each use extends it by 14 days. */
export function signInLimits(
  config: Pick<AuthServerSettings, 'SESSION_MAX_DAYS' | 'SESSION_MAX_HOURS_GLOBAL_ADMINS'>,
): SignInLimits {
  return {
    maxSeconds: config.SESSION_MAX_DAYS * daySeconds,
    maxSecondsOfGlobalAdmins: config.SESSION_MAX_HOURS_GLOBAL_ADMINS * hourSeconds,
  };
}
