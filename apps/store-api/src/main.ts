import 'reflect-metadata';
import { storeScopes } from '@fulfilment/contracts';
import { connectWhenUp, createDataSource, Database } from '@fulfilment/database';
import { RedisConnection, startApi } from '@fulfilment/http-service';
import { messageOutcomes, Messaging } from '@fulfilment/messaging';
import {
  collectProcessMetrics,
  createLogger,
  readConfig,
  Shutdown,
  startInternalServer,
} from '@fulfilment/runtime';
import { storeApiSettings } from './config.js';
import { migrations } from './migrations/index.js';
import { ResumeOrders } from './orders/resume-orders.js';
import { StoreApiModule } from './store-api.module.js';

const service = 'store-api';
const config = readConfig(storeApiSettings);
const logger = createLogger(service, config.LOG_LEVEL);
const shutdown = new Shutdown(logger);
shutdown.listen();
collectProcessMetrics();

const dataSource = createDataSource({
  url: config.DATABASE_URL,
  poolSize: config.DATABASE_POOL_SIZE,
  applicationName: service,
  migrations,
});
const database = new Database(dataSource);
const redis = new RedisConnection(config.REDIS_URL, logger);
const messaging = new Messaging(
  { url: config.RABBITMQ_URL, service, namespace: config.RABBITMQ_NAMESPACE },
  database,
  logger,
);

const app = await startApi({
  api: 'store',
  resourceName: 'Store API',
  scopes: Object.keys(storeScopes),
  settings: config,
  module: StoreApiModule.with({ config, logger, database, messaging }),
  redis,
  logger,
  readiness: {
    postgres: () => database.ping(),
    redis: () => redis.client.ping(),
    rabbitmq: () => messaging.connected,
  },
});
const internal = await startInternalServer({
  host: config.HOST,
  port: config.INTERNAL_PORT,
  routes: [messageOutcomes(database)],
});

await connectWhenUp(dataSource, (error) =>
  logger.warn({ error }, 'PostgreSQL cannot be reached; trying again.'),
);
messaging.start();
const resumeOrders = app.get(ResumeOrders);
resumeOrders.start();
logger.info('Ready.');

// The last added stops first: take nothing more, finish what is in hand, then close what it stood on.
shutdown.add('internal port', () => internal.close());
shutdown.add('redis', () => redis.stop());
shutdown.add('postgres', () => dataSource.destroy());
shutdown.add('messaging', () => messaging.stop());
shutdown.add('resume-orders', () => resumeOrders.stop());
shutdown.add('http', () => app.close());
