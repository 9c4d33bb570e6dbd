import { BACKGROUND_DATABASE, Database, ReadDatabase } from '@fulfilment/database';
import { READINESS_CHECKS, type ReadinessChecks } from '@fulfilment/http-service';
import { RedisConnection } from '@fulfilment/http-service/redis';
import { deleteExpiredInboxRows, InboxPartitions, Messaging, Outbox } from '@fulfilment/messaging';
import { CLOCK, CONFIG, createLogger, LOGGER, type Logger, systemClock } from '@fulfilment/runtime';
import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Cleanup } from './cleanup-job.js';
import { DatabasePools } from './database-pools.js';
import { SERVICE, type Service } from './service.js';
import { ServiceLifecycle } from './service-lifecycle.js';

/**
 * Nest's token for the database that readiness checks and consumers ping. It has its own connection: while
 * another pool is fully used, this replica stays ready, and its consumers keep their messages.
 */
const PROBE_DATABASE = Symbol('PROBE_DATABASE');
const INBOX_CLEANUP = Symbol('INBOX_CLEANUP');
const inboxCleanupIntervalMs = 3_600_000;

/** Settings, logger, clock and connections, for every module of a service. */
@Global()
@Module({})
export class ServiceModule {
  static forRoot(service: Service): DynamicModule {
    const { name, config } = service;
    return {
      module: ServiceModule,
      imports: [DiscoveryModule],
      providers: [
        { provide: SERVICE, useValue: service },
        { provide: CONFIG, useValue: config },
        { provide: LOGGER, useFactory: () => createLogger(name, config.LOG_LEVEL) },
        { provide: CLOCK, useValue: systemClock },
        ...databaseProviders(config),
        {
          provide: RedisConnection,
          inject: [LOGGER],
          useFactory: (logger: Logger) => new RedisConnection(config, logger),
        },
        ...messagingProviders(service),
        {
          provide: READINESS_CHECKS,
          inject: [DatabasePools, PROBE_DATABASE, RedisConnection, Messaging],
          useFactory: (
            pools: DatabasePools,
            probe: Database,
            redis: RedisConnection,
            messaging: Messaging,
          ): ReadinessChecks => ({
            postgres: () => pools.hasConnected && probe.ping(),
            redis: () => redis.client.ping(),
            rabbitmq: () => messaging.connected,
          }),
        },
        ServiceLifecycle,
      ],
      exports: [
        CONFIG,
        LOGGER,
        CLOCK,
        DatabasePools,
        Database,
        ReadDatabase,
        BACKGROUND_DATABASE,
        RedisConnection,
        Outbox,
        READINESS_CHECKS,
      ],
    };
  }
}

function databaseProviders(config: Service['config']): Provider[] {
  return [
    DatabasePools,
    {
      provide: Database,
      inject: [DatabasePools],
      useFactory: (pools: DatabasePools) => pools.open('', config.DATABASE_POOL_SIZE),
    },
    {
      provide: BACKGROUND_DATABASE,
      inject: [DatabasePools],
      useFactory: (pools: DatabasePools) => pools.open('background', config.DATABASE_BACKGROUND_POOL_SIZE),
    },
    {
      provide: ReadDatabase,
      inject: [Database, DatabasePools],
      useFactory: (primary: Database, pools: DatabasePools) => {
        const { DATABASE_READ_URL: url, DATABASE_READ_MAX_LAG_MS: maxLagMs } = config;
        if (url === undefined || maxLagMs === undefined) return new ReadDatabase(primary);
        return new ReadDatabase(primary, pools.openReplica({ url, maxLagMs }));
      },
    },
    {
      provide: PROBE_DATABASE,
      inject: [DatabasePools],
      useFactory: (pools: DatabasePools) => pools.open('probe', 1),
    },
  ];
}

function messagingProviders({ name, config }: Service): Provider[] {
  return [
    {
      provide: Messaging,
      inject: [PROBE_DATABASE, BACKGROUND_DATABASE, LOGGER],
      useFactory: (probe: Database, background: Database, logger: Logger) => {
        const { RABBITMQ_URL: url, RABBITMQ_NAMESPACE: namespace } = config;
        const ping = () => probe.ping();
        return new Messaging({ url, service: name, namespace, ping }, background, logger);
      },
    },
    { provide: Outbox, inject: [Messaging], useFactory: ({ outbox }: Messaging) => outbox },
    {
      provide: INBOX_CLEANUP,
      inject: [BACKGROUND_DATABASE, LOGGER],
      useFactory: (database: Database, logger: Logger) => {
        const deleteBatch = () => deleteExpiredInboxRows(database);
        const job = { name: 'inbox rows', intervalMs: inboxCleanupIntervalMs, deleteBatch };
        return new Cleanup([job], logger);
      },
    },
    {
      provide: InboxPartitions,
      inject: [BACKGROUND_DATABASE, LOGGER],
      useFactory: (database: Database, logger: Logger) => new InboxPartitions(database, logger),
    },
  ];
}
