import { currencies, paymentMethodIdPattern } from '@fulfilment/contracts';
import { z } from 'zod';
import { displayName } from '../accounts/display-name.js';

function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, {
    error: ({ input }) => (input === undefined ? 'is missing' : `must be one of ${values.join(', ')}`),
  });
}

function yesOrNo() {
  return oneOf(['yes', 'no']).transform((value) => value === 'yes');
}

/** Options of the operator commands that describe a creator. */
export const creatorOptions = {
  name: displayName,
  'payment-method': z
    .string({ error: 'is missing' })
    .refine((method) => method === 'none' || paymentMethodIdPattern.test(method), {
      error: 'must be none, or the id of a payment method at the payment provider (pm_…)',
    })
    .transform((method) => (method === 'none' ? null : method)),
  /** Whether the payment terms are accepted. */
  'payment-terms': yesOrNo(),
  /** Whether the tax interview is completed. */
  'tax-interview': yesOrNo(),
  'settlement-currency': oneOf(currencies),
  /** Whether it is a test creator, whose orders move no money and reach no warehouse. */
  test: yesOrNo(),
};
