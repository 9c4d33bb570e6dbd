import { apiSettings, operationQuotaSettings } from '@fulfilment/http-service';
import { flag, milliseconds, type RelaxedSetting } from '@fulfilment/runtime';
import { z } from 'zod';
import { isTestKey } from './payments/stripe-key.rules.js';
import { faultPoints } from './orders/fault-point.rules.js';

export const storeApiSettings = apiSettings
  .extend({
    NODE_ENV: z.string().default('production').describe('Only `test` takes the settings made for tests'),
    RATE_LIMIT_ORDERS_CREATE: operationQuotaSettings.RATE_LIMIT_ORDERS_CREATE,
    RATE_LIMIT_QUOTES: operationQuotaSettings.RATE_LIMIT_QUOTES,
    PAYMENT_TIMEOUT_MS: z.coerce
      .number()
      .int()
      .min(1)
      .max(15_000) // so that a waiting request ends within the 20 s that a process has to stop
      .default(10_000)
      .describe('How long an order waits for the payment provider before it is answered as pending'),
    RESUME_AFTER_MS: z.coerce
      .number()
      .int()
      .min(100)
      .max(60_000)
      .default(5_000)
      .describe(
        'How long a pending order is left to the request that placed it before the completer takes it, and the pause before the provider is asked again, which doubles each time up to 5 minutes',
      ),
    REPORT_HELD_MS: z.coerce
      .number()
      .int()
      .min(1)
      .max(30 * 86_400_000)
      .default(86_400_000)
      .describe(
        'How long a report on an order waits for what it builds on before it is refused: a delivery for its package',
      ),
    ADDRESS_RETENTION_DAYS: z.coerce
      .number()
      .int()
      .min(0)
      .max(36_500)
      .default(730)
      .describe(
        'Days after delivery, or after the last change of an order that was not delivered, until its address is redacted; 0 keeps addresses for ever',
      ),
    PAYMENT_PROVIDER: z
      .enum(['sandbox', 'stripe'])
      .describe('Who charges creators. `sandbox` moves no money and is for development and rehearsals'),
    STRIPE_SECRET_KEY: z
      .string()
      .regex(/^(sk|rk)_\w{1,250}$/, "must be one of Stripe's secret or restricted keys")
      .optional()
      .describe("Stripe's secret key, or a restricted one that may write PaymentIntents and refunds"),
    STRIPE_ALLOW_TEST_KEY: flag().describe(
      'For rehearsals: accept a test key, with which Stripe moves no money. Otherwise the start rejects it',
    ),
    STRIPE_WEBHOOK_SECRET: z
      .string()
      .regex(
        /^whsec_[\w+/=]{8,250}(,whsec_[\w+/=]{8,250}){0,4}$/,
        "must be Stripe's signing secrets (whsec_…)",
      )
      .optional()
      .describe(
        "Signing secret of Stripe's webhook endpoint; up to five, separated by commas, while it is rotated. Without it /store/webhooks/stripe does not exist",
      ),
    PAYMENT_CIRCUIT_FAILURES: z.coerce
      .number()
      .int()
      .min(1)
      .max(1_000)
      .default(5)
      .describe(
        'So many charges in a row without a response of the payment provider, or payment methods it rejects for a reason of ours, and new orders stay pending without asking it',
      ),
    PAYMENT_CIRCUIT_OPEN_MS: milliseconds(10, 300_000, 10_000).describe(
      'How long orders stay pending then before one charge tries the payment provider',
    ),
    STRIPE_API_URL: z
      .url({ protocol: /^https?$/ })
      .default('https://api.stripe.com')
      .describe("Stripe's API; another address is for tests, and plain http for them alone"),
    FAULT_POINT: z
      .enum(faultPoints)
      .optional()
      .describe('For tests, refused elsewhere: where the process ends itself by SIGKILL'),
  })
  .superRefine((settings, context) => {
    const reject = (name: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [name], message });
    if (settings.PAYMENT_PROVIDER === 'stripe' && settings.STRIPE_SECRET_KEY === undefined)
      reject('STRIPE_SECRET_KEY', 'is needed where PAYMENT_PROVIDER is stripe');
    const testKey = settings.STRIPE_SECRET_KEY !== undefined && isTestKey(settings.STRIPE_SECRET_KEY);
    if (testKey && !settings.STRIPE_ALLOW_TEST_KEY)
      reject('STRIPE_SECRET_KEY', 'is a test key, which needs STRIPE_ALLOW_TEST_KEY=true');
    if (settings.NODE_ENV === 'test') return;
    if (!settings.STRIPE_API_URL.startsWith('https:'))
      reject('STRIPE_API_URL', 'must be https unless NODE_ENV is test');
    if (settings.FAULT_POINT !== undefined) reject('FAULT_POINT', 'must not be set unless NODE_ENV is test');
  });
export type StoreApiSettings = z.output<typeof storeApiSettings>;

/** Returns the active settings that production should not have. */
export function relaxedStoreSettings(
  settings: Pick<StoreApiSettings, 'NODE_ENV' | 'PAYMENT_PROVIDER' | 'STRIPE_ALLOW_TEST_KEY'>,
): RelaxedSetting[] {
  const relaxed: RelaxedSetting[] = [];
  const relax = (setting: string, consequence: string): void => void relaxed.push({ setting, consequence });
  if (settings.NODE_ENV === 'test')
    relax('NODE_ENV', 'NODE_ENV is test: settings that are made for tests are accepted.');
  if (settings.PAYMENT_PROVIDER === 'sandbox')
    relax('PAYMENT_PROVIDER', 'PAYMENT_PROVIDER is sandbox: orders count as paid, and no money moves.');
  if (settings.STRIPE_ALLOW_TEST_KEY)
    relax(
      'STRIPE_ALLOW_TEST_KEY',
      "STRIPE_ALLOW_TEST_KEY is true: a test key of Stripe's is accepted, which moves no money.",
    );
  return relaxed;
}

/** Nest's token for the settings. */
export const CONFIG = Symbol('CONFIG');
