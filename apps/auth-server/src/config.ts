import { quotaSetting } from '@fulfilment/http-service/settings';
import {
  booleanSetting,
  integerSetting,
  keyring,
  type RelaxedSetting,
  secret,
  serviceSettings,
} from '@fulfilment/runtime';
import { z } from 'zod';

/** With custom plans, PostgreSQL would plan statements with arrays of keys at each execution (ADR 3). */
export const forceGenericPlan = true;

/** Settings of the authorization server, from its environment. */
export const authServerSettings = serviceSettings.extend({
  KEY_ENCRYPTION_KEY: keyring()
    .meta(secret)
    .describe(
      'Key that encrypts signing keys, client secrets and second factors at rest: 32 bytes in base64. To rotate it, append the new key on every replica, separated by a comma, then move it to the front, then run `keys reseal`, then remove the old key',
    ),
  COOKIE_KEYS: z
    .string()
    .transform((text) => text.split(',').map((key) => key.trim()))
    .refine(
      (keys) => keys.every((key) => key.length >= 32),
      'must be keys of at least 32 characters, separated by commas',
    )
    .meta(secret)
    .describe(
      'Keys that sign cookies and form tokens, separated by commas, newest first; the same for all replicas. To rotate them, append the new key on every replica, then move it to the front, then remove the old key after 14 days, the lifetime of a session. A browser whose last sign-in used the old key then loses its separate limit of SIGN_IN_FAILURES',
    ),
  RATE_LIMIT_TOKEN: quotaSetting(
    '120/60',
    'for the token endpoint, per authenticated confidential client, otherwise per network',
  ),
  RATE_LIMIT_REGISTER: quotaSetting('20/3600', 'for client registration, per network'),
  RATE_LIMIT_AUTHORIZATION: quotaSetting(
    '1200/60',
    'for introspection, revocation and pushed authorization requests, per authenticated confidential client, otherwise per network; for every other endpoint and page of the authorization server, per network',
  ),
  SIGNING_KEY_ROTATION_DAYS: integerSetting({ min: 0, max: 3650, default: 90 }).describe(
    'Days until the signing key is rotated; with 0, only the operator command rotates it',
  ),
  // ADR 29 has the reasons for the limits (a) to (c).
  SIGN_IN_FAILURES: quotaSetting(
    '10/900',
    'for failed sign-ins: (a) per account in one network; (b) per network: one quota, and one more for each account that signed in from it within a day; (c) per browser that signed in before. An account that is attacked from many networks accepts one attempt at a time, and a delay between attempts grows until they have this average rate',
  ),
  SECOND_FACTOR_FOR_GLOBAL_ADMINS: booleanSetting(true).describe(
    'Whether global admins must have a second factor; they set it up at their next sign-in',
  ),
  AUDIT_RETENTION_DAYS: integerSetting({ min: 30, max: 36_500, default: 400 }).describe(
    'Minimum number of days for which audit records are kept; whole months are deleted',
  ),
  SESSION_MAX_DAYS: integerSetting({ min: 1, max: 365, default: 30 }).describe(
    'Maximum age of a browser session in days, even if it is in use; then the person must sign in again',
  ),
  SESSION_MAX_HOURS_GLOBAL_ADMINS: integerSetting({ min: 1, max: 8760, default: 12 }).describe(
    'Maximum age of a browser session of a global admin, in hours',
  ),
});
export type AuthServerSettings = Readonly<z.output<typeof authServerSettings>>;

/** Nest's token of these settings. */
export { CONFIG } from '@fulfilment/runtime';

/** The settings that switch a protection off. */
export function relaxedAuthServerSettings(
  config: Pick<AuthServerSettings, 'SECOND_FACTOR_FOR_GLOBAL_ADMINS'>,
): RelaxedSetting[] {
  if (config.SECOND_FACTOR_FOR_GLOBAL_ADMINS) return [];
  const consequence = 'SECOND_FACTOR_FOR_GLOBAL_ADMINS is false: global admins sign in with only a password.';
  return [{ setting: 'SECOND_FACTOR_FOR_GLOBAL_ADMINS', consequence }];
}
