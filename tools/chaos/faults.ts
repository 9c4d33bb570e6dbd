import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessPart } from '../dev/supervisor/process-part.ts';
import type { PostgresPair } from './postgres-pair.ts';
import type { RedisWithSentinels } from './redis-with-sentinels.ts';
import type { Replicas } from './replicas.ts';
import type { Step } from './timeline.rules.ts';

export interface Targets {
  readonly replicas: Replicas;
  readonly brokers: readonly ProcessPart[];
  readonly redis: RedisWithSentinels;
  readonly postgres: PostgresPair;
}

/**
 * Does what a step says. Resolves when what it took away is back, so that at most one thing is away.
 * @param onAvailable called when clients can use Redis or PostgreSQL again, before the replaced server has
 *   returned; other steps do not call it
 */
export async function cause(
  step: Step,
  { replicas, brokers, redis, postgres }: Targets,
  onAvailable: () => void,
): Promise<void> {
  switch (step.action) {
    case 'kill replica':
      return replicas.kill(step.service, step.replica);
    case 'freeze replica':
      return replicas.freeze(step.service, step.replica, step.forMs);
    case 'roll replica':
      return replicas.roll(step.service, step.replica);
    case 'kill RabbitMQ node': {
      const node = brokers[step.node - 1];
      await node?.stop(); // by SIGKILL; `kill` would restart it at once
      return node?.start();
    }
    case 'fail Redis over':
      return redis.failOver(onAvailable);
    case 'promote PostgreSQL':
      await postgres.failOver();
      onAvailable();
      return postgres.rebuildStandby();
    case 'cut link to PostgreSQL': {
      const address = postgres.addressOf(step.service);
      address.cut();
      await sleep(step.forMs);
      return address.restore();
    }
  }
}
