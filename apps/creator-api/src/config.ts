import { apiSettings } from '@fulfilment/http-service';

/** The Creator API is told nothing beyond what every API is told. */
export const creatorApiSettings = apiSettings;
