import type { ServiceReference } from '@fulfilment/api-reference';
import { routesOf } from '@fulfilment/http-service';
import { features } from './features.js';

/** The whole Creator API; no other service serves a part of it. */
export const reference: ServiceReference = {
  routes: routesOf(features),
  tags: [
    { name: 'Creators', description: 'The creators that are visible to you.' },
    { name: 'Orders', description: 'The Store orders of a creator.' },
    { name: 'Statistics', description: 'Sales and royalties of a creator, by month.' },
    { name: 'Statements', description: 'Numbered statements of closed months, which never change.' },
    {
      name: 'Releases',
      description:
        'Creation of releases for the catalogue of the Store API, and the processing state of their tracks.',
    },
    { name: 'Track uploads', description: 'Registration and analysis of the audio of tracks.' },
  ],
};
