import { apiSettings, operationQuotaSettings } from '@fulfilment/http-service/settings';
import { booleanSetting, integerSetting, keyring, type RelaxedSetting, secret } from '@fulfilment/runtime';
import { z } from 'zod';
import { isTestKey } from './payments/stripe/stripe-key.rules.js';
import { faultPoints } from './fault-points.js';

export const storeApiSettings = apiSettings
  .extend({
    NODE_ENV: z
      .string()
      .default('production')
      .describe('`test` permits the settings that exist only for tests'),
    RATE_LIMIT_ORDERS_CREATE: operationQuotaSettings.RATE_LIMIT_ORDERS_CREATE,
    RATE_LIMIT_QUOTES: operationQuotaSettings.RATE_LIMIT_QUOTES,
    QUOTE_SIGNING_KEY: keyring()
      .meta(secret)
      .describe(
        'Key that signs shipping quotes: 32 bytes in base64, the same for all replicas. To rotate it, append the new key on every replica, separated by a comma, then move it to the front, then remove the old key after 24 hours',
      ),
    // At most 15 s, so that a waiting request ends within the 20 s that a process has to stop.
    PAYMENT_TIMEOUT_MS: integerSetting({ min: 1, max: 15_000, default: 10_000 }).describe(
      'How long a request to place an order waits for the payment provider before it returns a pending order',
    ),
    RESUME_AFTER_MS: integerSetting({ min: 100, max: 60_000, default: 5_000 }).describe(
      'Time after the payment timeout until the completer continues a pending order instead of the request that placed it. Also the first delay between two attempts, which doubles up to 5 minutes',
    ),
    REPORT_HELD_MS: integerSetting({ min: 1, max: 30 * 86_400_000, default: 86_400_000 }).describe(
      'How long an out-of-order fulfilment event waits for the event that it depends on (a delivery for its package) before it is rejected',
    ),
    ADDRESS_RETENTION_DAYS: integerSetting({ min: 0, max: 36_500, default: 730 }).describe(
      'Days after delivery, or after the last change of an undelivered order, until the address is redacted; 0 keeps addresses forever',
    ),
    PAYMENT_PROVIDER: z
      .enum(['sandbox', 'stripe'])
      .describe(
        'Provider that charges creators. `sandbox` moves no money; use it for development and rehearsals',
      ),
    STRIPE_SECRET_KEY: z
      .string()
      .regex(/^(sk|rk)_\w{1,250}$/, "must be one of Stripe's secret or restricted keys")
      .optional()
      .meta(secret)
      .describe('Secret key of Stripe, or a restricted key that may write PaymentIntents and refunds'),
    STRIPE_ALLOW_TEST_KEY: booleanSetting().describe(
      'For rehearsals: accept a test key, with which Stripe moves no money. Without this setting the service does not start with a test key',
    ),
    STRIPE_WEBHOOK_SECRET: z
      .string()
      .regex(
        /^whsec_[\w+/=]{8,250}(,whsec_[\w+/=]{8,250}){0,4}$/,
        "must be Stripe's signing secrets (whsec_…)",
      )
      .optional()
      .meta(secret)
      .describe(
        'Signing secret of the Stripe webhook endpoint; up to five, separated by commas, during a rotation. Without it /store/webhooks/stripe does not exist',
      ),
    PAYMENT_CIRCUIT_FAILURES: integerSetting({ min: 1, max: 1_000, default: 5 }).describe(
      'Number of different charges or payment methods that fail, without a result of a charge in between, after which the circuit opens: new orders stay pending without a request to the provider. A payment method counts if its charges are rejected for a reason on our side, otherwise the charge',
    ),
    PAYMENT_CIRCUIT_OPEN_MS: integerSetting({ min: 10, max: 300_000, default: 10_000 }).describe(
      'How long the circuit stays open before one charge tests the payment provider',
    ),
    STRIPE_API_URL: z
      .url({ protocol: /^https?$/ })
      .default('https://api.stripe.com')
      .describe('URL of the Stripe API; another URL, and plain http, are only for tests'),
    TEST_ORDER_STEP_MS: integerSetting({ min: 0, max: 86_400_000, default: 600_000 }).describe(
      'Time after which the simulated warehouse ships a paid test order, and after that delivers it; 0: only events reported by `POST /v1/test/orders/{id}/events`',
    ),
    FAULT_POINT: z
      .enum(faultPoints)
      .optional()
      .describe('Tests only: the point at which the process kills itself with SIGKILL'),
  })
  .superRefine((settings, context) => {
    const reject = (name: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [name], message });
    if (settings.PAYMENT_PROVIDER === 'stripe' && settings.STRIPE_SECRET_KEY === undefined)
      reject('STRIPE_SECRET_KEY', 'is required if PAYMENT_PROVIDER is stripe');
    const hasTestKey = settings.STRIPE_SECRET_KEY !== undefined && isTestKey(settings.STRIPE_SECRET_KEY);
    if (hasTestKey && !settings.STRIPE_ALLOW_TEST_KEY)
      reject('STRIPE_SECRET_KEY', 'is a test key, which requires STRIPE_ALLOW_TEST_KEY=true');
    if (settings.NODE_ENV === 'test') return;
    if (!settings.STRIPE_API_URL.startsWith('https:'))
      reject('STRIPE_API_URL', 'may be http only if NODE_ENV is test');
    if (settings.FAULT_POINT !== undefined) reject('FAULT_POINT', 'may be set only if NODE_ENV is test');
  });
export type StoreApiSettings = z.output<typeof storeApiSettings>;

/** Returns the active settings that production should not have. */
export function relaxedStoreApiSettings(
  settings: Pick<StoreApiSettings, 'NODE_ENV' | 'PAYMENT_PROVIDER' | 'STRIPE_ALLOW_TEST_KEY'>,
): RelaxedSetting[] {
  const relaxed: RelaxedSetting[] = [];
  if (settings.NODE_ENV === 'test')
    relaxed.push({
      setting: 'NODE_ENV',
      consequence: 'NODE_ENV is test: settings that exist only for tests are accepted.',
    });
  if (settings.PAYMENT_PROVIDER === 'sandbox')
    relaxed.push({
      setting: 'PAYMENT_PROVIDER',
      consequence: 'PAYMENT_PROVIDER is sandbox: orders count as paid without moving money.',
    });
  if (settings.STRIPE_ALLOW_TEST_KEY)
    relaxed.push({
      setting: 'STRIPE_ALLOW_TEST_KEY',
      consequence: 'STRIPE_ALLOW_TEST_KEY is true: a Stripe test key is accepted, which moves no money.',
    });
  return relaxed;
}

export { CONFIG } from '@fulfilment/runtime';
