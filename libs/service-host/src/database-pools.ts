import { connectWhenUp, createDataSource, Database } from '@fulfilment/database';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { SERVICE, type Service } from './service.js';

/**
 * The connection pools of a service, one for each kind of work that must not delay the others. Nothing is
 * connected before `connect`.
 */
@Injectable()
export class DatabasePools {
  private readonly dataSources: DataSource[] = [];

  constructor(
    @Inject(SERVICE) private readonly service: Service,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @param purpose shown after the service's name in `pg_stat_activity`; empty for HTTP requests */
  open(purpose: string, poolSize: number): Database {
    const { name, config, migrations, forceGenericPlan } = this.service;
    const dataSource = createDataSource({
      url: config.DATABASE_URL,
      poolSize,
      applicationName: `${name} ${purpose}`.trim(),
      migrations,
      forceGenericPlan,
    });
    this.dataSources.push(dataSource);
    return new Database(dataSource);
  }

  /** Resolves when every pool is connected, however long that takes. */
  async connect(): Promise<void> {
    for (const dataSource of this.dataSources) {
      await connectWhenUp(dataSource, (error) => {
        this.logger.warn({ error }, 'PostgreSQL is unreachable; will retry.');
      });
    }
  }

  async close(): Promise<void> {
    const connected = this.dataSources.filter((source) => source.isInitialized);
    await Promise.all(connected.map((source) => source.destroy()));
  }
}
