import type { ServiceReference } from '@fulfilment/api-reference';
import { routesOf } from '@fulfilment/http-service';
import { controllers } from './controllers.js';
import { eventReference } from './fan-out/events.reference.js';

/** The part of the Store API that this service owns: everything below `/v1/webhooks`, and the events. */
export const reference: ServiceReference = {
  routes: routesOf(controllers),
  tags: [
    { name: 'Webhooks', description: 'Webhook subscriptions.' },
    {
      name: 'Webhook deliveries',
      description: 'Delivery history, test events, retries and recoveries.',
    },
  ],
  ...eventReference(),
};
