import type { ServiceSettings } from '@fulfilment/runtime';
import type { MigrationInterface } from 'typeorm';

/** Settings of a read replica. A service with lists always has the lag, but the URL only with a replica. */
export interface ReadReplicaSettings {
  readonly DATABASE_READ_URL?: string | undefined;
  readonly DATABASE_READ_MAX_LAG_MS?: number | undefined;
}

/** What differs between the services. */
export interface Service {
  readonly name: string;
  readonly config: ServiceSettings & ReadReplicaSettings;
  readonly migrations: readonly (new () => MigrationInterface)[];
  /**
   * Whether PostgreSQL plans each named statement once, without its values. Set by services with many
   * partitions, or with statements on arrays of keys. Default: false.
   */
  readonly forceGenericPlan?: boolean;
}

/** Nest's token for the service. */
export const SERVICE = Symbol('SERVICE');
