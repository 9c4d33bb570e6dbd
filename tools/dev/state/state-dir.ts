import { rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../run-program.ts';

/**
 * Everything that a suite and `npm run tools -- cli` create in the state directory. Other files there, such
 * as another suite's directory, are kept.
 */
const ownNames = new Set([
  'certificates',
  'cli',
  'control.sock',
  'gateway',
  'logs',
  'postgres',
  'processes.json',
  'rabbitmq',
  'redis',
  'secrets.json',
  'stack.json',
  'stack.json.new',
  'store-users',
]);
const pollIntervalMs = 500;

/** Deletes what a suite created, and the directory if it is then empty. */
export function emptyStateDir(stateDir: string): void {
  const own = namesIn(stateDir).filter((name) => ownNames.has(name));
  // A folder that contains secrets is the state directory of another suite with this name.
  for (const name of own.filter((entry) => !namesIn(join(stateDir, entry)).includes('secrets.json')))
    rmSync(join(stateDir, name), { recursive: true, force: true });
  try {
    rmdirSync(stateDir);
  } catch {
    // It contains other files, or does not exist.
  }
}

/** Calls back once when the directory or its `secrets.json` is removed, even if it is created again. */
export function watchForRemoval(stateDir: string, onRemoved: () => void): { stop: () => void } {
  const original = fileIdentity(stateDir);
  const timer = setInterval(() => {
    if (fileIdentity(stateDir) === original) return;
    clearInterval(timer);
    onRemoved();
  }, pollIntervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/**
 * Inode numbers of the directory and of a file in it that is never replaced. Only both together identify the
 * directory, since the system may reuse a single inode number soon.
 */
function fileIdentity(stateDir: string): string {
  return [stateDir, join(stateDir, 'secrets.json')]
    .map((path) => statSync(path, { throwIfNoEntry: false })?.ino)
    .join(':');
}
