import type { ServiceReference } from '@fulfilment/api-reference';
import { routesOf } from '@fulfilment/http-service';
import { features } from './features.js';

/** The part of the Store API in this service; webhook-worker has the subscriptions and the event feed. */
export const reference: ServiceReference = {
  routes: routesOf(features),
  tags: [
    { name: 'Orders', description: 'Placing, estimating, reading and cancelling orders.' },
    {
      name: 'Releases',
      description:
        'The catalogue. A release has products; orders and quotes use the `id` of a product as `sku`.',
    },
    { name: 'Shipping', description: 'Shipping rates and shipping services.' },
    { name: 'Test mode', description: 'Events of test orders, which no warehouse produces.' },
    { name: 'Creator', description: 'The creator that the access token is authorised for.' },
  ],
};
