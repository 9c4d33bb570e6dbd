import { Failure } from '../failure.ts';
import type { PartStatus } from '../supervisor/part.ts';
import type { Dependency } from './dependency.ts';
import { respondsAt } from './readiness.ts';

/** A dependency that the suite does not run; the environment has its URL. */
export function isExternal({ processes }: Dependency): boolean {
  return processes.length === 0;
}

/** Checks an external dependency, which must respond immediately. */
export async function checkExternal({ name, url }: Dependency): Promise<void> {
  await respondsAt[name](url).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`The ${name} given in ${name.toUpperCase()}_URL cannot be used: ${reason}`);
  });
}

export function externalStatus({ name }: Dependency): PartStatus {
  return { name, kind: 'dependency', state: 'given', pid: null, uptime_seconds: null, restarts: 0 };
}
