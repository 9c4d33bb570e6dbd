import { createDataSource, Database } from '@fulfilment/database';
import { readConfig, serviceSettings } from '@fulfilment/runtime';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { catalogueFile, loadCatalogue } from './catalogue/load-catalogue.js';
import { migrations } from './migrations/index.js';
import { loadShipping, shippingFile } from './shipping/load-shipping.js';

/**
 * The operator's commands on this database; each reads JSON from standard input and may run again.
 *   node dist/operate.js catalogue load < catalogue.json
 *   node dist/operate.js shipping load < shipping.json
 */
const commands: Readonly<Record<string, (database: Database, input: string) => Promise<object>>> = {
  'catalogue load': async (database, input) => {
    const file = catalogueFile.parse(JSON.parse(input));
    await loadCatalogue(database, file);
    return { releases: file.releases.length, product_types: file.product_types.length };
  },
  'shipping load': async (database, input) => {
    const file = shippingFile.parse(JSON.parse(input));
    await loadShipping(database, file);
    return { services: file.services.length, zones: Object.keys(file.zones).length };
  },
};

async function main(): Promise<void> {
  const command = commands[process.argv.slice(2).join(' ')];
  if (command === undefined) throw new Error(`Commands: ${Object.keys(commands).join(', ')}.`);
  const { DATABASE_URL: url } = readConfig(serviceSettings.pick({ DATABASE_URL: true }));
  const dataSource = createDataSource({ url, poolSize: 2, applicationName: 'store-api operate', migrations });
  await dataSource.initialize();
  try {
    const result = await command(new Database(dataSource), await text(process.stdin));
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } finally {
    await dataSource.destroy();
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof z.ZodError ? z.prettifyError(error) : String(error)}\n`);
  process.exitCode = 1;
}
