import { connectWhenUp, createDataSource, Database } from '@fulfilment/database';
import { type ReadinessChecks, RedisConnection } from '@fulfilment/http-service';
import { deleteExpiredInboxRows, messageOutcomes, Messaging } from '@fulfilment/messaging';
import {
  collectProcessMetrics,
  createLogger,
  type Logger,
  relaxedServiceSettings,
  type RelaxedSetting,
  reportRelaxedSettings,
  type ServiceSettings,
  Shutdown,
  startInternalServer,
} from '@fulfilment/runtime';
import type { INestApplication } from '@nestjs/common';
import type { DataSource, MigrationInterface } from 'typeorm';
import { startCleanup } from './cleanup-job.js';

const inboxCleanupIntervalMs = 3_600_000;

/** Connections and helpers of a service. Nothing is connected before `run`. */
export interface Service {
  readonly logger: Logger;
  /** Connection pool for HTTP requests. */
  readonly database: Database;
  /**
   * Connection pool for consumers, the outbox relay, background loops and jobs, separate from that of
   * requests.
   */
  readonly background: Database;
  readonly redis: RedisConnection;
  readonly messaging: Messaging;
  /** Checks that PostgreSQL, Redis and RabbitMQ respond. */
  readonly readiness: ReadinessChecks;
  readonly shutdown: Shutdown;
  /**
   * Opens another connection pool, for work that neither requests nor background work may delay. `run`
   * connects it.
   * @param purpose shown after the service's name in `pg_stat_activity`
   */
  openPool(purpose: string, poolSize: number): Database;
  /**
   * Connects to the database, however long that takes, then starts background work and messaging. The HTTP
   * port is already open.
   * @param startBackground starts background work and adds its shutdown; messages are consumed after it has
   * resolved
   */
  run(
    app: Pick<INestApplication, 'close'>,
    startBackground?: (shutdown: Shutdown) => void | Promise<void>,
  ): Promise<void>;
}

export function openService(options: {
  readonly name: string;
  readonly settings: ServiceSettings;
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** For tables of many partitions, and for statements of arrays of keys (libs/database). */
  readonly forceGenericPlan?: boolean;
  /** The relaxed ones of the service's own settings. */
  readonly relaxed?: readonly RelaxedSetting[];
}): Service {
  const { name, settings, migrations, forceGenericPlan = false, relaxed = [] } = options;
  const logger = createLogger(name, settings.LOG_LEVEL);
  reportRelaxedSettings([...relaxedServiceSettings(settings), ...relaxed], logger);
  const shutdown = new Shutdown(logger);
  shutdown.listen();
  collectProcessMetrics();
  const dataSources: DataSource[] = [];
  const open = (applicationName: string, poolSize: number): Database => {
    const dataSource = createDataSource({
      url: settings.DATABASE_URL,
      poolSize,
      applicationName,
      migrations,
      forceGenericPlan,
    });
    dataSources.push(dataSource);
    return new Database(dataSource);
  };
  const database = open(name, settings.DATABASE_POOL_SIZE);
  const background = open(`${name} background`, settings.DATABASE_BACKGROUND_POOL_SIZE);
  const probe = open(`${name} probe`, 1);
  const ping = () => probe.ping();
  const redis = new RedisConnection(settings.REDIS_URL, logger);
  const messaging = new Messaging(
    { url: settings.RABBITMQ_URL, service: name, namespace: settings.RABBITMQ_NAMESPACE, ping },
    background,
    logger,
  );
  // The last added stops first: HTTP, then RabbitMQ, then background work, then the connections.
  shutdown.add('postgres', async () => {
    const connected = dataSources.filter((source) => source.isInitialized);
    await Promise.all(connected.map((source) => source.destroy()));
  });
  shutdown.add('redis', () => redis.stop());
  return {
    logger,
    database,
    background,
    redis,
    messaging,
    shutdown,
    openPool: (purpose, poolSize) => open(`${name} ${purpose}`, poolSize),
    readiness: {
      // Uses a connection of its own: a fully used pool is no reason to remove the replica from the load
      // balancer.
      postgres: ping,
      redis: () => redis.client.ping(),
      rabbitmq: () => messaging.connected,
    },
    run: async (app, startBackground) => {
      const { INTERNAL_HOST: host, INTERNAL_PORT: port } = settings;
      const internal = await startInternalServer({ host, port, routes: [messageOutcomes(background)] });
      shutdown.add('internal port', () => internal.close());
      for (const dataSource of dataSources) {
        await connectWhenUp(dataSource, (error) => {
          logger.warn({ error }, 'PostgreSQL is unreachable; will retry.');
        });
      }
      await startBackground?.(shutdown);
      const inbox = { name: 'inbox rows', intervalMs: inboxCleanupIntervalMs };
      startCleanup([{ ...inbox, deleteBatch: () => deleteExpiredInboxRows(background) }], logger, shutdown);
      messaging.start();
      shutdown.add('messaging', () => messaging.stop());
      shutdown.add('http', () => app.close());
      logger.info('Ready.');
    },
  };
}
