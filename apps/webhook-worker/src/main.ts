import { storeScopes } from '@fulfilment/contracts';
import { connectWhenUp, createDataSource, Database } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { RedisConnection, startApi } from '@fulfilment/http-service';
import { messageOutcomes, Messaging } from '@fulfilment/messaging';
import {
  collectProcessMetrics,
  createLogger,
  readConfig,
  Shutdown,
  startInternalServer,
} from '@fulfilment/runtime';
import { startBackground } from './background.js';
import { webhookWorkerSettings } from './config.js';
import { migrations } from './migrations/index.js';
import { WebhookWorkerModule } from './webhook-worker.module.js';

const name = 'webhook-worker';
const config = readConfig(webhookWorkerSettings);
const logger = createLogger(name, config.LOG_LEVEL);
const shutdown = new Shutdown(logger);
collectProcessMetrics();
if (config.ALLOW_LOOPBACK_TARGETS) {
  logger.warn(
    'ALLOW_LOOPBACK_TARGETS is on: webhooks may be sent to this machine. Never set it in production.',
  );
}

const dataSource = createDataSource({
  url: config.DATABASE_URL,
  poolSize: config.DATABASE_POOL_SIZE,
  applicationName: name,
  migrations,
});
const database = new Database(dataSource);
const redis = new RedisConnection(config.REDIS_URL, logger);
const messaging = new Messaging(
  { url: config.RABBITMQ_URL, service: name, namespace: config.RABBITMQ_NAMESPACE },
  database,
  logger,
);
const client = new GuardedClient({
  allowLoopback: config.ALLOW_LOOPBACK_TARGETS,
  blockedNetworks: config.BLOCKED_NETWORKS,
  ownUrls: [config.BASE_URL, config.AUTH_URL],
});
shutdown.add('database', async () => (dataSource.isInitialized ? dataSource.destroy() : undefined));
shutdown.add('redis', () => redis.stop());
shutdown.add('outbound connections', () => client.close());

const app = await startApi({
  module: WebhookWorkerModule.with({ config, logger, database, messaging, client }),
  settings: config,
  redis,
  logger,
  api: 'store',
  resourceName: 'Store API',
  scopes: Object.keys(storeScopes),
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
shutdown.add('http', () => app.close());
shutdown.add('internal port', () => internal.close());
shutdown.listen();

await connectWhenUp(dataSource, (error) =>
  logger.warn({ error }, 'PostgreSQL cannot be reached; trying again.'),
);
startBackground(app, shutdown);
shutdown.add('messaging', () => messaging.stop());
messaging.start();
