import { connectWhenUp, createDataSource, Database, verifyNamedStatements } from '@fulfilment/database';
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
  private readonly pools: { readonly dataSource: DataSource; readonly database: Database }[] = [];

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
    const database = new Database(dataSource);
    this.pools.push({ dataSource, database });
    return database;
  }

  /**
   * Resolves when every pool is connected, however long that takes.
   * @throws UnsuitableConnection if a connection pooler withholds what the service needs
   */
  async connect(): Promise<void> {
    const onFailure = (error: unknown): void => {
      this.logger.warn({ error }, 'PostgreSQL is unreachable; will retry.');
    };
    for (const { dataSource } of this.pools) await connectWhenUp(dataSource, this.service, onFailure);
    await verifyNamedStatements(
      this.pools.map(({ database }) => database),
      onFailure,
    );
  }

  async close(): Promise<void> {
    const dataSources = this.pools.map(({ dataSource }) => dataSource);
    await Promise.all(dataSources.filter((source) => source.isInitialized).map((source) => source.destroy()));
  }
}
