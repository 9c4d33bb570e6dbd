import { apiPart, localAddresses } from '@fulfilment/api-reference';
import { audiences, issuer, storeScopes } from '@fulfilment/contracts';
import { defaultQuotas, routesOf, serviceRoutes } from '@fulfilment/http-service';
import { controllers } from './controllers.js';

const service = serviceRoutes({
  prefix: 'store',
  baseUrl: localAddresses.baseUrl,
  metadataExample: {
    resource: audiences(localAddresses.baseUrl).store,
    resource_name: 'Store API',
    authorization_servers: [issuer(localAddresses.authUrl)],
    bearer_methods_supported: ['header'],
    scopes_supported: Object.keys(storeScopes),
  },
});

/** What this service owns of the Store API; the subscriptions are webhook-worker's. */
export const reference = apiPart({
  quotas: defaultQuotas,
  routes: [...routesOf(controllers), ...service.routes],
  tags: [
    { name: 'Orders', description: 'Placing orders and following them.' },
    {
      name: 'Releases',
      description:
        'The catalogue. A release has products; the `id` of a product is the `sku` of orders and quotes.',
    },
    { name: 'Shipping', description: 'What it costs to send something, and how it may be sent.' },
    { name: 'Creator', description: 'Whom the access token acts for.' },
    ...service.tags,
  ],
});
