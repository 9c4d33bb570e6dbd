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

const settings = readConfig(creatorApiSettings);
const logger = createLogger('creator-api', settings.LOG_LEVEL);
const shutdown = new Shutdown(logger);
collectProcessMetrics();

const dataSource = createDataSource({
  url: settings.DATABASE_URL,
  poolSize: settings.DATABASE_POOL_SIZE,
  applicationName: 'creator-api',
  migrations,
});
const database = new Database(dataSource);
const redis = new RedisConnection(settings.REDIS_URL, logger);
const messaging = new Messaging(
  { url: settings.RABBITMQ_URL, service: 'creator-api', namespace: settings.RABBITMQ_NAMESPACE },
  database,
  logger,
);
const waitingBookings = keepBooking(database, logger);
messaging.consume(factsConsumer(() => waitingBookings.wake()));

shutdown.add('postgres', async () => {
  if (dataSource.isInitialized) await dataSource.destroy();
});
shutdown.add('redis', () => redis.stop());
shutdown.listen();
await startApi({
  settings,
  module: CreatorApiModule.with({ database, outbox: messaging.outbox, clock: systemClock }),
  logger,
  redis,
  api: 'creator',
  resourceName: 'Creator API',
  scopes: [],
  readiness: {
    postgres: () => database.ping(),
    redis: () => redis.client.ping(),
    rabbitmq: () => messaging.connected,
  },
});
const internal = await startInternalServer({
  host: settings.HOST,
  port: settings.INTERNAL_PORT,
  routes: [messageOutcomes(database)],
});
shutdown.add('internal', () => Promise.resolve(internal.close()));

await connectWhenUp(dataSource, (error) =>
  logger.warn({ error }, 'PostgreSQL cannot be reached; trying again.'),
);
messaging.start();
waitingBookings.start();
shutdown.add('messaging', () => messaging.stop());
shutdown.add('waiting bookings', () => waitingBookings.stop());
