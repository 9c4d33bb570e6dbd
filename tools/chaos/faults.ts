import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessPart } from '../dev/supervisor/process-part.ts';
import type { PostgresPair } from './suite/postgres-pair.ts';
import type { RedisWithSentinels } from './suite/redis-with-sentinels.ts';
import type { Replicas } from './suite/replicas.ts';
import type { Step } from './timeline.rules.ts';

/** The parts of the suite on which steps act. */
export interface Targets {
  readonly replicas: Replicas;
  readonly brokers: readonly ProcessPart[];
  readonly redis: RedisWithSentinels;
  readonly postgres: PostgresPair;
}

/**
 * Runs a step. Resolves when everything that it made unavailable is available again.
 * @param onAvailable called when clients can use Redis or PostgreSQL again, before the replaced server is a
 *   replica or standby; other steps do not call it
 */
export async function runStep(
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
      await node?.stop(); // its stop signal is SIGKILL; after `kill`, the supervisor would restart it
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
