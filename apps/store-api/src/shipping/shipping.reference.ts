import type { OperationDoc } from '@fulfilment/api-reference';
import { NotFound, Unprocessable } from '@fulfilment/error-envelope';
import { shippingRatesShape, shippingServicesShape } from './shipping.shapes.js';

const tag = 'Shipping';

export const quoteRates = {
  id: 'quoteRates',
  tag,
  summary: 'Quote shipping rates',
  description:
    'Quotes a parcel to a country with every shipping service that accepts it. Each price is valid for 24 hours, even if rate cards change during that time. ' +
    'If the parcel of an order has another weight than that of its rate, the order is priced again with the same service. ' +
    'Without items, `data` is empty for a country that no service ships to.',
  body: {
    parcel: {
      summary: 'Two records to the United Kingdom',
      value: { country_code: 'GB', items: [{ sku: 'prod_01m7xwmwp2eabtq0f8c3vs9k1n', quantity: 2 }] },
    },
    lightest: { summary: 'The lightest parcel to Japan', value: { country_code: 'JP' } },
  },
  response: { description: 'The shipping rates.', shape: shippingRatesShape },
  errors: [
    { when: 'The token is not connected to a creator.', example: new NotFound('connected creator') },
    {
      when: 'Some items cannot be shipped. `items.<index>.sku` names each: `unknown_sku`, `not_available` or `not_shippable_to_country`.',
      example: new Unprocessable('No shipping service ships these items to this country.', [
        { field: 'items.0.sku', reason: 'not_shippable_to_country' },
      ]),
    },
    {
      when: 'The parcel weighs more than 100 t (`items`: `too_heavy`).',
      example: new Unprocessable('The parcel is too heavy for all shipping services.', [
        { field: 'items', reason: 'too_heavy' },
      ]),
    },
  ],
} as const satisfies OperationDoc<typeof shippingRatesShape>;

export const listServices = {
  id: 'listShippingServices',
  tag,
  summary: 'List shipping services',
  description: 'Returns all shipping services that the connected creator may use.',
  response: { description: 'The shipping services.', shape: shippingServicesShape },
} as const satisfies OperationDoc<typeof shippingServicesShape>;
