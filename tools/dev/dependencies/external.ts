import { Failure } from '../failure.ts';
import type { PartStatus } from '../supervisor/part.ts';
import type { Dependency } from './dependency.ts';
import { assertResponds } from './readiness.ts';

/** A dependency that the suite does not run; the environment has its URL. */
export function isExternal({ processes }: Dependency): boolean {
  return processes.length === 0;
}

/** Checks that an external dependency responds. It is not waited for, unlike one that the suite starts. */
export async function checkExternal({ name, url }: Dependency): Promise<void> {
  await assertResponds[name](url).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`The ${name} given in ${name.toUpperCase()}_URL cannot be used: ${reason}`);
  });
}

export function externalStatus({ name }: Dependency): PartStatus {
  return { name, kind: 'dependency', state: 'external', pid: null, uptime_seconds: null, restarts: 0 };
}
