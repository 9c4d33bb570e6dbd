import type { Database } from '@fulfilment/database';
import { serviceSettings } from '@fulfilment/runtime';
import { operateService, operatorCommand, type OperatorSite } from '@fulfilment/service-host/operator';
import { z } from 'zod';
import { catalogueFile, loadCatalogue } from './catalogue/load-catalogue.js';
import { migrations } from './migrations/index.js';
import { loadShipping, shippingFile } from './shipping/load-shipping.js';

type Site = OperatorSite<unknown>;

/** A command that reads JSON from standard input and may run again. */
function loading<File>(schema: z.ZodType<File>, load: (database: Database, file: File) => Promise<object>) {
  return operatorCommand({
    arguments: z.object({}),
    run: async ({ database, input }: Site) => load(database, schema.parse(JSON.parse(await input()))),
  });
}

await operateService({
  name: 'store-api',
  migrations,
  settings: serviceSettings.pick({ DATABASE_URL: true }),
  context: (site): Site => site,
  commands: {
    'catalogue load': loading(catalogueFile, async (database, file) => {
      await loadCatalogue(database, file);
      return { releases: file.releases.length, product_types: file.product_types.length };
    }),
    'shipping load': loading(shippingFile, async (database, file) => {
      await loadShipping(database, file);
      return { services: file.services.length, zones: Object.keys(file.zones).length };
    }),
  },
});
