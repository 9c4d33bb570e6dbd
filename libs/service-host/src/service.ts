import type { ServiceSettings } from '@fulfilment/runtime';
import type { MigrationInterface } from 'typeorm';

/** What differs between the services. */
export interface Service {
  readonly name: string;
  readonly config: ServiceSettings;
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** For tables of many partitions, and for statements of arrays of keys (libs/database). */
  readonly forceGenericPlan?: boolean;
}

/** Nest's token for the service. */
export const SERVICE = Symbol('SERVICE');
