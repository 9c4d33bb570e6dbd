import 'reflect-metadata';
import { connectWhenUp, createDataSource, Database } from '@fulfilment/database';
import { RedisConnection, startApi } from '@fulfilment/http-service';
import { messageOutcomes, Messaging } from '@fulfilment/messaging';
import {
  collectProcessMetrics,
  createLogger,
  readConfig,
  Shutdown,
  startInternalServer,
  systemClock,
} from '@fulfilment/runtime';
import { creatorApiSettings } from './config.js';
import { CreatorApiModule } from './creator-api.module.js';
import { factsConsumer } from './facts.consumer.js';
import { migrations } from './migrations/index.js';
import { keepBooking } from './statistics/keep-booking.js';

const service = 'creator-api';
const config = readConfig(creatorApiSettings);
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
const waitingBookings = keepBooking(database, logger);
messaging.consume(factsConsumer(() => waitingBookings.wake()));

const app = await startApi({
  api: 'creator',
  resourceName: 'Creator API',
  scopes: [],
  settings: config,
  module: CreatorApiModule.with({ database, outbox: messaging.outbox, clock: systemClock }),
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
waitingBookings.start();
logger.info('Ready.');

// The last added stops first: take nothing more, finish what is in hand, then close what it stood on.
shutdown.add('internal port', () => internal.close());
shutdown.add('redis', () => redis.stop());
shutdown.add('postgres', () => dataSource.destroy());
shutdown.add('waiting bookings', () => waitingBookings.stop());
shutdown.add('messaging', () => messaging.stop());
shutdown.add('http', () => app.close());
