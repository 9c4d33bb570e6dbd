import { apiSettings } from '@fulfilment/http-service';
import { z } from 'zod';

export const storeApiSettings = apiSettings.extend({
  PAYMENT_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .min(1)
    .max(60_000)
    .default(10_000)
    .describe('How long an order waits for the payment provider before it is answered as pending'),
  RESUME_AFTER_MS: z.coerce
    .number()
    .int()
    .min(100)
    .max(60_000)
    .default(5_000)
    .describe('How long a pending order is left to the request that placed it before the completer takes it'),
});
export type StoreApiSettings = z.output<typeof storeApiSettings>;

/** Nest's token for the settings. */
export const CONFIG = Symbol('CONFIG');
