import { createDataSource, migrate } from '@fulfilment/database';
import { readConfig, serviceSettings } from '@fulfilment/runtime';
import { migrations } from './migrations/index.js';

const { DATABASE_URL: url } = readConfig(serviceSettings.pick({ DATABASE_URL: true }));
const dataSource = createDataSource({
  url,
  poolSize: 2,
  applicationName: 'webhook-worker migrate',
  migrations,
});
await dataSource.initialize();
const applied = await migrate(dataSource);
await dataSource.destroy();
process.stdout.write(applied.length === 0 ? 'Nothing to migrate.\n' : `Applied ${applied.join(', ')}.\n`);
