import { z } from 'zod';

/** The currencies of prices and rate cards, with the number of digits of their minor unit (ISO 4217). */
export const currencyExponents = { GBP: 2, USD: 2, EUR: 2, JPY: 0 } as const;
export type Currency = keyof typeof currencyExponents;
export const currencies = ['GBP', 'USD', 'EUR', 'JPY'] as const satisfies readonly Currency[];

/** An amount in minor units: 1099 GBP is £10.99, 1099 JPY is ¥1099. */
export interface Money {
  readonly amount: number;
  readonly currency: Currency;
}

/** The largest amount that is exact in JSON and in JavaScript. */
export const maxAmount = Number.MAX_SAFE_INTEGER;

export function isCurrency(text: string): text is Currency {
  return Object.hasOwn(currencyExponents, text);
}

/** Schema of `Money` in responses. */
export const moneyShape = z
  .object({
    amount: z
      .int()
      .min(0)
      .max(maxAmount)
      .describe('Amount in minor units of the currency: 1099 GBP is £10.99, 1099 JPY is ¥1099'),
    currency: z.enum(currencies).describe('ISO 4217 code; it determines the number of decimals'),
  })
  .meta({
    id: 'Money',
    description: 'An amount in minor units of its currency.',
    examples: [{ amount: 2999, currency: 'GBP' }],
  });
