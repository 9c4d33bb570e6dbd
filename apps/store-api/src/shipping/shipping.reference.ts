import type { OperationDoc } from '@fulfilment/api-reference';
import { NotFound, Unprocessable } from '@fulfilment/error-envelope';
import { shippingRatesShape, shippingServicesShape } from './shipping.shapes.js';

const tag = 'Shipping';

export const quoteRates = {
  id: 'quoteRates',
  tag,
  summary: 'Quote shipping',
  description:
    'Prices a parcel to a country with every service that takes it. Each price holds for 24 hours, also when rate cards change meanwhile. A rate quoted without items, or with ' +
    "others than the order's, is priced again for the order with the same service. Without items, a country that no service reaches has no rates: `data` is empty.",
  body: {
    parcel: {
      summary: 'Two records to the United Kingdom',
      value: { country_code: 'GB', items: [{ sku: 'prod_01m7xwmwp2eabtq0f8c3vs9k1n', quantity: 2 }] },
    },
    lightest: { summary: 'The lightest parcel to Japan', value: { country_code: 'JP' } },
  },
  answer: { description: 'The rates.', shape: shippingRatesShape },
  errors: [
    { when: 'The token is not connected to a creator.', example: new NotFound('connected creator') },
    {
      when: 'Items that cannot be shipped, each by `items.<index>.sku`: `unknown_sku`, `not_available` or `not_shippable_to_country`.',
      example: new Unprocessable('No shipping service takes these items to this country.', [
        { field: 'items.0.sku', reason: 'not_shippable_to_country' },
      ]),
    },
    {
      when: 'The parcel weighs more than 100 t (`items`: `too_heavy`).',
      example: new Unprocessable('No shipping service takes so heavy a parcel.', [
        { field: 'items', reason: 'too_heavy' },
      ]),
    },
  ],
} as const satisfies OperationDoc<typeof shippingRatesShape>;

export const listServices = {
  id: 'listShippingServices',
  tag,
  summary: 'List shipping services',
  description: 'Every service the connected creator may use.',
  answer: { description: 'The services.', shape: shippingServicesShape },
} as const satisfies OperationDoc<typeof shippingServicesShape>;
