import type { PrintLine } from '../output/progress.ts';
import type { Ports } from '../ports.ts';
import type { Secrets } from '../state/secrets.ts';
import type { Settings } from '../settings.ts';
import type { ProcessPlan } from '../supervisor/process-part.ts';

export const dependencyNames = ['postgres', 'redis', 'rabbitmq'] as const;
export type DependencyName = (typeof dependencyNames)[number];

/** Parameters for starting the stores of a suite. */
export interface DependencyContext {
  readonly settings: Settings;
  readonly ports: Ports;
  readonly secrets: Secrets;
  /** Prints a detail of the current step. */
  readonly note: PrintLine;
}

/** A store with its URL and its processes; no processes if it is external. */
export interface Dependency {
  readonly name: DependencyName;
  readonly url: string;
  readonly processes: readonly ProcessPlan[];
}

/** URL of a store that the suite runs, the same for Docker and for programs. */
export function ownUrl(
  name: DependencyName,
  { ports, secrets }: Pick<DependencyContext, 'ports' | 'secrets'>,
): string {
  switch (name) {
    case 'postgres':
      return `postgres://suite:${secrets.postgresPassword}@127.0.0.1:${ports.postgres}/postgres`;
    case 'redis':
      return `redis://default:${secrets.redisPassword}@127.0.0.1:${ports.redis}/0`;
    case 'rabbitmq':
      return `amqp://suite:${secrets.rabbitmqPassword}@127.0.0.1:${ports.rabbitmq}/%2F`;
  }
}
