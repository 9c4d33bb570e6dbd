import { apiPart } from '@fulfilment/api-reference';
import { defaultQuotas, routesOf } from '@fulfilment/http-service';
import { controllers } from './controllers.js';
import { eventReference } from './fan-out/events.reference.js';

/** The part of the Store API that this service owns: everything below `/v1/webhooks`, and the events. */
export const reference = apiPart({
  api: 'store',
  quotas: defaultQuotas,
  routes: routesOf(controllers),
  tags: [
    { name: 'Webhooks', description: 'Subscriptions: which events are posted to which URL.' },
    {
      name: 'Webhook deliveries',
      description: 'What became of each event, trying things out, and sending again.',
    },
  ],
  ...eventReference(),
});
