import { accessTokenLifetimeSeconds } from '@fulfilment/contracts';

import type { SignInLimits } from '../accounts/read-accounts.js';
import type { Config } from '../config.js';

const hour = 3600;
const day = 24 * hour;

/**
 * How long each thing lives, in seconds. A code at most ten minutes (RFC 6749 §4.1.2); a refresh token ends when it lies unused
 * (RFC 9700 §4.14.2), and with its family however much it is used.
 */
export const lifetimes = {
  authorizationCode: 120,
  accessToken: accessTokenLifetimeSeconds,
  idToken: hour,
  refreshToken: 30 * day,
  family: 90 * day,
  session: 14 * day,
  interaction: hour / 2,
} as const;

/** The head of a family lives as long as the last of its tokens may: without `offline_access` that is the one access token. */
export function familyLifetime(scopes: readonly string[]): number {
  const { accessToken, authorizationCode, family, interaction } = lifetimes;
  return scopes.includes('offline_access')
    ? family + accessToken
    : interaction + authorizationCode + accessToken;
}

/** A refresh token slides 30 days at a time, and never beyond its family's 90. @param familyStartedAt in seconds since 1970 */
export function refreshTokenLifetime(familyStartedAt: number, now: number): number {
  return Math.max(1, Math.min(lifetimes.refreshToken, familyStartedAt + lifetimes.family - now));
}

/** A session that is used slides by 14 days at a time; its sign-in ends it in any case. */
export function signInLimits(
  config: Pick<Config, 'SESSION_MAX_DAYS' | 'SESSION_MAX_HOURS_GLOBAL_ADMINS'>,
): SignInLimits {
  return {
    maxSeconds: config.SESSION_MAX_DAYS * day,
    maxSecondsOfGlobalAdmins: config.SESSION_MAX_HOURS_GLOBAL_ADMINS * hour,
  };
}
