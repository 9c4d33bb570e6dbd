import type { Ports } from '../ports.ts';
import type { Secrets } from '../secrets.ts';
import type { Settings } from '../settings.ts';
import type { ProcessPlan } from '../supervisor/process-part.ts';

export const dependencyNames = ['postgres', 'redis', 'rabbitmq'] as const;
export type DependencyName = (typeof dependencyNames)[number];

/** What a dependency of ours is made from. */
export interface Site {
  readonly settings: Settings;
  readonly ports: Ports;
  readonly secrets: Secrets;
  readonly note: (text: string) => void;
}

/** A dependency that is about to run: its address and the processes behind it, none if somebody else runs it. */
export interface Dependency {
  readonly name: DependencyName;
  readonly url: string;
  readonly processes: readonly ProcessPlan[];
}

/** The address of a dependency of ours is the same however it is run. */
export function ownUrl(name: DependencyName, { ports, secrets }: Pick<Site, 'ports' | 'secrets'>): string {
  switch (name) {
    case 'postgres':
      return `postgres://suite:${secrets.postgresPassword}@127.0.0.1:${ports.postgres}/postgres`;
    case 'redis':
      return `redis://default:${secrets.redisPassword}@127.0.0.1:${ports.redis}/0`;
    case 'rabbitmq':
      return `amqp://suite:${secrets.rabbitmqPassword}@127.0.0.1:${ports.rabbitmq}/%2F`;
  }
}
