import type { ServiceReference } from '@fulfilment/api-reference';
import { routesOf } from '@fulfilment/http-service';
import { eventReference } from './fan-out/events.reference.js';
import { features } from './features.js';

/** The part of the Store API that this service owns: webhook subscriptions, deliveries and the event feed. */
export const reference: ServiceReference = {
  routes: routesOf(features),
  tags: [
    { name: 'Webhooks', description: 'Webhook subscriptions.' },
    {
      name: 'Webhook deliveries',
      description: 'Delivery history, test events, retries and recoveries.',
    },
    {
      name: 'Events',
      description: 'The events of a creator, for receivers that have no public address.',
    },
  ],
  ...eventReference(),
};
