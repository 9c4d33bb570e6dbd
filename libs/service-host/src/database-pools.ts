import {
  connectReplicaWhenUp,
  connectWhenUp,
  createDataSource,
  Database,
  type ReadReplica,
  verifyNamedStatements,
  type DataSourceSettings,
} from '@fulfilment/database';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { SERVICE, type Service } from './service.js';

interface Pool {
  readonly dataSource: DataSource;
  readonly database: Database;
}

/** The connection pools of a service, one for each kind of work that must not delay the others. */
@Injectable()
export class DatabasePools {
  private readonly pools: Pool[] = [];
  private replica: Pool | undefined;
  private hasConnectedReplica = false;
  private hasConnectedPrimary = false;
  private isClosed = false;

  constructor(
    @Inject(SERVICE) private readonly service: Service,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Adds a pool of the primary.
   * @param purpose shown after the service's name in `pg_stat_activity`; empty for HTTP requests
   */
  open(purpose: string, poolSize: number): Database {
    const pool = this.createPool(purpose, { url: this.service.config.DATABASE_URL, poolSize });
    this.pools.push(pool);
    return pool.database;
  }

  /** Adds the pool of the read replica. While the replica is down, the service starts and runs without it. */
  openReplica({ url, maxLagMs }: { readonly url: string; readonly maxLagMs: number }): ReadReplica {
    const { DATABASE_POOL_SIZE: poolSize } = this.service.config;
    this.replica = this.createPool('read', { url, poolSize, readsStandby: true });
    return { database: this.replica.database, maxLagMs, isConnected: () => this.hasConnectedReplica };
  }

  /** Whether `connect` has connected the pools of the primary. Stays true when connections are lost. */
  get hasConnected(): boolean {
    return this.hasConnectedPrimary;
  }

  /**
   * Resolves when the pools are connected, however long that takes. Does not wait for a replica that is down.
   * @throws UnsuitableConnection if a connection pooler drops settings that the service needs, or the URL of
   *   the replica leads to a server that does not replicate the database
   */
  async connect(): Promise<void> {
    for (const { dataSource } of this.pools)
      await connectWhenUp(dataSource, this.sessionOptions, (error) =>
        this.logger.warn({ error }, 'The connection to PostgreSQL failed; will retry.'),
      );
    await verifyNamedStatements(
      this.pools.map(({ database }) => database),
      (error) => this.logger.warn({ error }, 'The check of named statements failed; will retry.'),
    );
    this.hasConnectedPrimary = true;
    await this.connectReplica();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const { pools, replica } = this;
    const dataSources = (replica === undefined ? pools : [...pools, replica]).map((pool) => pool.dataSource);
    await Promise.all(dataSources.filter((source) => source.isInitialized).map((source) => source.destroy()));
  }

  /**
   * Resolves after the first attempt to connect the replica; if it failed, retries continue after that.
   * @throws UnsuitableConnection at the first attempt; a later attempt logs it
   */
  private async connectReplica(): Promise<void> {
    const [primary] = this.pools;
    if (this.replica === undefined || primary === undefined) return;
    const { dataSource } = this.replica;
    const firstFailure = Promise.withResolvers<void>();
    const onFailure = (error: unknown): void => {
      if (this.isClosed) throw error; // ends the attempts
      this.logger.warn({ error }, 'The read replica is unreachable; will retry.');
      firstFailure.resolve();
    };
    const connecting = connectReplicaWhenUp(primary.dataSource, dataSource, this.sessionOptions, onFailure);
    const connected = connecting.then(() => {
      this.hasConnectedReplica = true;
    });
    await Promise.race([connected, firstFailure.promise]);
    connected.catch((error: unknown) => {
      if (!this.isClosed) this.logger.error({ error }, 'The read replica is not used.');
    });
  }

  private get sessionOptions() {
    return { forceGenericPlan: this.service.forceGenericPlan };
  }

  private createPool(
    purpose: string,
    settings: Pick<DataSourceSettings, 'url' | 'poolSize' | 'readsStandby'>,
  ): Pool {
    const { name, migrations } = this.service;
    const applicationName = `${name} ${purpose}`.trim();
    const dataSource = createDataSource({ ...settings, ...this.sessionOptions, applicationName, migrations });
    return { dataSource, database: new Database(dataSource) };
  }
}
