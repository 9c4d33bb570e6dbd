import { Failure } from '../failure.ts';
import type { PartStatus } from '../supervisor/part.ts';
import type { Dependency } from './dependency.ts';
import { postgresAnswers, rabbitmqAnswers, redisAnswers } from './readiness.ts';

const answers = { postgres: postgresAnswers, redis: redisAnswers, rabbitmq: rabbitmqAnswers };

/** Somebody else runs it; the environment gave its address. */
export function isGiven({ processes }: Dependency): boolean {
  return processes.length === 0;
}

/** A given dependency is not waited for: it must answer now. */
export async function checkGiven({ name, url }: Dependency): Promise<void> {
  const reason = await answers[name](url).then(
    (ok) => (ok ? undefined : 'it does not respond.'),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (reason === undefined) return;
  throw new Failure(`The ${name} given in ${name.toUpperCase()}_URL cannot be used: ${reason}`);
}

export function givenStatus({ name }: Dependency): PartStatus {
  return { name, kind: 'dependency', state: 'given', pid: null, uptime_seconds: null, restarts: 0 };
}
