import { apiPart } from '@fulfilment/api-reference';
import { defaultQuotas, routesOf } from '@fulfilment/http-service';
import { controllers } from './controllers.js';

/** The part of the Store API that this service owns; webhook-worker owns the subscriptions. */
export const reference = apiPart({
  api: 'store',
  quotas: defaultQuotas,
  routes: routesOf(controllers),
  tags: [
    { name: 'Orders', description: 'Placing orders and following them.' },
    {
      name: 'Releases',
      description:
        'The catalogue. A release has products; the `id` of a product is the `sku` of orders and quotes.',
    },
    { name: 'Shipping', description: 'What it costs to send something, and how it may be sent.' },
    { name: 'Creator', description: 'Whom the access token acts for.' },
  ],
});
