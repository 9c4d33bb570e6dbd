import { currencies, organisationRoles, paymentMethodName } from '@fulfilment/contracts';
import { z } from 'zod';

/** Schemas of command arguments. Each error message follows the argument's name: "--carrier is missing". */

const missing = 'is missing';
const notEmpty = 'must not be empty';

/** Non-empty text; length in characters. */
export function text(atMost = 255) {
  return z.string(missing).trim().min(1, notEmpty).max(atMost, `must be at most ${atMost} characters long`);
}

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, {
    error: ({ input }) => (input === undefined ? missing : `must be one of ${values.join(', ')}`),
  });
}

const maxStock = 999_999_999;

/** An integer in decimal digits. */
export const wholeNumber = z
  .string(missing)
  .regex(/^\d{1,9}$/, `must be a whole number from 0 to ${maxStock}`)
  .transform(Number);

/** An integer in decimal digits with an optional sign. */
export const wholeChange = z
  .string(missing)
  .regex(/^(?=.*[1-9])[+-]?\d{1,9}$/, `must be a whole number from -${maxStock} to ${maxStock}, and not 0`)
  .transform(Number);

export const webAddress = z.string(missing).refine(
  (given) =>
    z
      .url({ protocol: /^https?$/ })
      .max(2048)
      .safeParse(given).success,
  {
    error: 'must be an http or https address',
  },
);

export const email = z
  .string(missing)
  .refine((given) => z.email().safeParse(given).success, { error: 'must be an e-mail address' });

/** A flag without a value. */
export const flag = z.boolean().optional();
export const paymentMethod = z
  .string(missing)
  .refine((given) => given === 'none' || paymentMethodName.test(given), {
    error: 'must be none, or the id of a payment method at the payment provider (pm_…)',
  });
export const role = oneOf(organisationRoles);
export const roleOrNone = oneOf([...organisationRoles, 'none']);
export const yesOrNo = oneOf(['yes', 'no']);
export const currency = oneOf(currencies);
