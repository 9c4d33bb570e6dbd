import { rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from './run-program.ts';

/** All that a suite makes in its state directory. Whatever else lies there, another suite's state directory too, is not its own. */
const ownNames = new Set([
  'certificates',
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
]);
const lookEveryMs = 500;

/** Removes what a suite has made, and the directory itself when nothing else is in it. */
export function emptyStateDir(stateDir: string): void {
  const own = namesIn(stateDir).filter((name) => ownNames.has(name));
  // A folder with secrets of its own is the state directory of a suite that was given this very name.
  for (const name of own.filter((one) => !namesIn(join(stateDir, one)).includes('secrets.json')))
    rmSync(join(stateDir, name), { recursive: true, force: true });
  try {
    rmdirSync(stateDir);
  } catch {
    // Something that is not ours lies in it, or it was never there.
  }
}

/** Calls back once when the directory or what is in it was removed, also when a new one stands in its place. */
export function whenRemoved(stateDir: string, then: () => void): { stop: () => void } {
  const made = identityOf(stateDir);
  const timer = setInterval(() => {
    if (identityOf(stateDir) === made) return;
    clearInterval(timer);
    then();
  }, lookEveryMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** Of the directory and of what a suite writes once: the number of one file alone is soon given to another. */
function identityOf(stateDir: string): string {
  return [stateDir, join(stateDir, 'secrets.json')]
    .map((path) => statSync(path, { throwIfNoEntry: false })?.ino)
    .join(':');
}
