import { apiPart } from '@fulfilment/api-reference';
import { defaultQuotas, routesOf } from '@fulfilment/http-service';
import { controllers } from './controllers.js';

/** The whole Creator API, which this service alone serves. */
export const reference = apiPart({
  api: 'creator',
  quotas: defaultQuotas,
  routes: routesOf(controllers),
  tags: [
    { name: 'Creators', description: 'Whose figures you may see.' },
    { name: 'Orders', description: "A creator's orders, as the Store took them." },
    { name: 'Statistics', description: 'What a creator sold and earned, by month.' },
    { name: 'Releases', description: 'Bringing new releases into the Store.' },
    { name: 'Track uploads', description: 'The audio of tracks: fetched from where it lies, and read.' },
  ],
});
