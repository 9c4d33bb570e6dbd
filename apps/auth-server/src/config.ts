import { quotaSetting } from '@fulfilment/http-service';
import { flag, keyring, type RelaxedSetting, serviceSettings } from '@fulfilment/runtime';
import { z } from 'zod';

/** Settings of the authorization server, from its environment. */
export const settings = serviceSettings.extend({
  KEY_ENCRYPTION_KEY: keyring().describe(
    '32 bytes in base64 that encrypt signing keys, client secrets and second factors at rest. To rotate, put the new key before the old, with a comma',
  ),
  COOKIE_KEYS: z
    .string()
    .transform((text) => text.split(',').map((key) => key.trim()))
    .refine(
      (keys) => keys.every((key) => key.length >= 32),
      'must be keys of at least 32 characters, comma separated',
    )
    .describe(
      'Keys that sign cookies and form tokens, comma separated, newest first; the same for all replicas',
    ),
  RATE_LIMIT_TOKEN: quotaSetting(
    120,
    60,
    'the token endpoint, per confidential client that has authenticated, else per network',
  ),
  RATE_LIMIT_REGISTER: quotaSetting(20, 3600, 'client registration, per network'),
  RATE_LIMIT_AUTHORIZATION: quotaSetting(
    1200,
    60,
    'every other endpoint and page of the authorization server, per network; introspection, revocation and pushed requests of a confidential client that has authenticated, per client',
  ),
  SIGNING_KEY_ROTATION_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(3650)
    .default(90)
    .describe('Days after which the next signing key takes over; 0 rotates by command only'),
  SIGN_IN_FAILURES: quotaSetting(
    10,
    900,
    'failed sign-ins: per account in one network, per network (once more for each account that signed in there within a day), and per browser that signed in before. An account guessed at from many networks gets one guess at a time, with a delay that grows to this average pace',
  ),
  SECOND_FACTOR_FOR_GLOBAL_ADMINS: flag(true).describe(
    'Whether global admins cannot sign in without a second factor; they set it up at their next sign-in',
  ),
  AUDIT_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(30)
    .max(36_500)
    .default(400)
    .describe('Days that audit records are kept at least; whole months are dropped'),
  SESSION_MAX_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(365)
    .default(30)
    .describe('Days after a sign-in when the browser has to sign in again, however much it is used'),
  SESSION_MAX_HOURS_GLOBAL_ADMINS: z.coerce
    .number()
    .int()
    .min(1)
    .max(8760)
    .default(12)
    .describe('The same for global admins, in hours'),
});
export type Config = Readonly<z.output<typeof settings>>;

/** Nest's token for the settings. */
export const CONFIG = Symbol('CONFIG');

/** The settings that switch a protection off. */
export function relaxedAuthSettings(
  config: Pick<Config, 'SECOND_FACTOR_FOR_GLOBAL_ADMINS'>,
): RelaxedSetting[] {
  if (config.SECOND_FACTOR_FOR_GLOBAL_ADMINS) return [];
  const consequence =
    'SECOND_FACTOR_FOR_GLOBAL_ADMINS is false: global admins sign in with a password alone.';
  return [{ setting: 'SECOND_FACTOR_FOR_GLOBAL_ADMINS', consequence }];
}
