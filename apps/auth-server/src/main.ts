import 'reflect-metadata';
import { connectWhenUp, createDataSource, Database } from '@fulfilment/database';
import { RedisConnection } from '@fulfilment/http-service';
import { messageOutcomes, Messaging } from '@fulfilment/messaging';
import {
  collectProcessMetrics,
  createLogger,
  readConfig,
  Shutdown,
  startInternalServer,
} from '@fulfilment/runtime';
import { settings } from './config.js';
import { migrations } from './migrations/index.js';
import { startAuthServer } from './start-auth-server.js';

const service = 'auth-server';
const config = readConfig(settings);
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
// It only sends: what operate.ts writes into the outbox is relayed from here.
const messaging = new Messaging(
  { url: config.RABBITMQ_URL, service, namespace: config.RABBITMQ_NAMESPACE },
  database,
  logger,
);
shutdown.add('postgres', async () => {
  if (dataSource.isInitialized) await dataSource.destroy();
});
shutdown.add('redis', () => redis.stop());

const authServer = await startAuthServer({
  config,
  logger,
  shutdown,
  database,
  redis,
  rabbitmqReady: () => messaging.connected,
});
const internal = await startInternalServer({
  host: config.HOST,
  port: config.INTERNAL_PORT,
  routes: [messageOutcomes(database)],
});
shutdown.add('internal port', () => internal.close());

await connectWhenUp(dataSource, (error) =>
  logger.warn({ error }, 'PostgreSQL cannot be reached; trying again.'),
);
messaging.start();
shutdown.add('messaging', () => messaging.stop());
authServer.startLoops();
