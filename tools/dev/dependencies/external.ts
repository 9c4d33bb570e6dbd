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
  const reason = await respondsAt[name](url).then(
    (ok) => (ok ? undefined : 'it does not respond.'),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (reason === undefined) return;
  throw new Failure(`The ${name} given in ${name.toUpperCase()}_URL cannot be used: ${reason}`);
}

export function externalStatus({ name }: Dependency): PartStatus {
  return { name, kind: 'dependency', state: 'given', pid: null, uptime_seconds: null, restarts: 0 };
}
