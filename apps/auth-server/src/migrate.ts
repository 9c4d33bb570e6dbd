import { createDataSource, migrate } from '@fulfilment/database';
import { createLogger, readConfig } from '@fulfilment/runtime';
import { settings } from './config.js';
import { migrations } from './migrations/index.js';

const config = readConfig(settings.pick({ DATABASE_URL: true, LOG_LEVEL: true }));
const logger = createLogger('auth-server', config.LOG_LEVEL);
const dataSource = createDataSource({
  url: config.DATABASE_URL,
  poolSize: 2,
  applicationName: 'auth-server-migrate',
  migrations,
});
await dataSource.initialize();
const applied = await migrate(dataSource);
await dataSource.destroy();
logger.info({ applied }, 'The database is up to date.');
