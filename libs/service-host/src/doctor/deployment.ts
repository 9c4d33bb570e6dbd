import type { RedisSettings, ServiceSettings } from '@fulfilment/runtime';
import type { MigrationInterface } from 'typeorm';

/** The deployment of a service, to be examined. */
export interface Deployment {
  readonly name: string;
  readonly settings: RedisSettings &
    Pick<ServiceSettings, 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'RABBITMQ_URL' | 'RABBITMQ_NAMESPACE'>;
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** Whether its connections must have `plan_cache_mode = force_generic_plan`. */
  readonly forceGenericPlan?: boolean;
  /** Extensions of PostgreSQL that its migrations create. */
  readonly extensions?: readonly string[];
  /** Roles that the role of the service must be able to assume (SET ROLE). */
  readonly roles?: readonly string[];
}
