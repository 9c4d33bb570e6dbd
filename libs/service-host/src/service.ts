import type { ServiceSettings } from '@fulfilment/runtime';
import type { MigrationInterface } from 'typeorm';

/** Settings of a read replica. A service that has lists sets both or, without a replica, only the lag. */
export interface ReadReplicaSettings {
  readonly DATABASE_READ_URL?: string | undefined;
  readonly DATABASE_READ_MAX_LAG_MS?: number | undefined;
}

/** A service: the properties in which services differ. */
export interface Service {
  readonly name: string;
  readonly config: ServiceSettings & ReadReplicaSettings;
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** Set by services with many partitions, or with statements on arrays of keys. Default: false. */
  readonly forceGenericPlan?: boolean;
}

/** Nest's token for the service. */
export const SERVICE = Symbol('SERVICE');
