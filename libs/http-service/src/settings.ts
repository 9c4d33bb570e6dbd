import { integerSetting, secret, serviceSettings } from '@fulfilment/runtime';
import { z } from 'zod';
import type { Quota } from './access/quota-share.js';
import type { Quotas } from './access/rate-limiter.js';
import { minCursorSecretLength } from './signed-cursors.js';

/** Returns the schema of a setting of the form REQUESTS/SECONDS. */
export function quotaSetting(defaultText: `${number}/${number}`, description: string) {
  return z
    .string()
    .regex(/^[1-9]\d{0,8}\/[1-9]\d{0,5}$/, 'must be REQUESTS/SECONDS')
    .default(defaultText)
    .transform((text): Quota => {
      const [requests = 0, windowSeconds = 0] = text.split('/').map(Number);
      return { requests, windowSeconds };
    })
    .describe(`Rate limit, REQUESTS/SECONDS: ${description}`);
}

/** Settings of a resource server. */
export const apiSettings = serviceSettings.extend({
  JWKS_URL: z
    .url()
    .optional()
    .describe(
      'URL of the public signing keys (JWKS); by default at the public address of the authorization server',
    ),
  DATABASE_READ_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .meta(secret)
    .describe(
      'PostgreSQL URL of a read replica of `DATABASE_URL`, for lists, histories and statistics; it must lead to one server',
    ),
  DATABASE_READ_MAX_LAG_MS: integerSetting({ min: 1, max: 5_000, default: 100 }).describe(
    'Maximum time that a read waits for the read replica to have all earlier writes; after that it uses the primary',
  ),
  CURSOR_SECRET: z
    .string()
    .min(minCursorSecretLength)
    .meta(secret)
    .describe(
      'Key of at least 32 characters that signs cursors of lists and of event feeds; the same for all replicas. To rotate it, append the new key on every replica, separated by a comma, then move it to the front, then remove the old key after 30 days',
    ),
  RATE_LIMIT_DEFAULT: quotaSetting(
    '6000/60',
    'per client and creator, for all operations without a quota of their own',
  ),
  RATE_LIMIT_ANONYMOUS: quotaSetting('300/60', 'for requests without a valid token, per network'),
});
export type ApiSettings = z.output<typeof apiSettings>;

/** Quotas of operations that only some services have. A service with such an operation adds the setting. */
export const operationQuotaSettings = {
  RATE_LIMIT_ORDERS_CREATE: quotaSetting('1500/60', 'for placing orders, per client and creator'),
  RATE_LIMIT_QUOTES: quotaSetting('1500/60', 'for shipping quotes and estimates, per client and creator'),
  RATE_LIMIT_STATS: quotaSetting('600/60', 'for statistics, per client and creator'),
};
type OperationQuotas = { readonly [Name in keyof typeof operationQuotaSettings]?: Quota };

type ApiQuotas = Pick<ApiSettings, 'RATE_LIMIT_DEFAULT' | 'RATE_LIMIT_ANONYMOUS'>;

/** A service without the setting of an operation does not use that quota, so its value does not matter. */
export function quotasOf(settings: ApiQuotas & OperationQuotas): Quotas {
  const { RATE_LIMIT_DEFAULT: defaultQuota } = settings;
  return {
    default: defaultQuota,
    'orders-create': settings.RATE_LIMIT_ORDERS_CREATE ?? defaultQuota,
    quotes: settings.RATE_LIMIT_QUOTES ?? defaultQuota,
    stats: settings.RATE_LIMIT_STATS ?? defaultQuota,
    anonymous: settings.RATE_LIMIT_ANONYMOUS,
  };
}
