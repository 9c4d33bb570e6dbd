import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const lockPollIntervalMs = 50;
/**
 * An older lock counts as abandoned, although a process with its id exists: the system has reused the id. The
 * longest work, `logout`, sends three requests, each at most four times, with 30 s for an attempt and 68 s
 * between two attempts (`createTransport`): 972 s.
 */
const maxLockAgeMs = 1_200_000;

/** Small files in a directory that only this account may read. */
export class PrivateFiles {
  constructor(private readonly dir: string) {}

  read(name: string): string | undefined {
    try {
      return readFileSync(join(this.dir, name), 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Replaces the file in one step: after a crash it has the old or the new content. */
  write(name: string, text: string): void {
    mkdirSync(this.dir, { recursive: true, mode: 0o700 });
    const draft = join(this.dir, `${name}.${randomUUID()}`);
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(draft, join(this.dir, name));
  }

  /** Runs the work under a lock between processes. Takes over a lock that was abandoned. */
  async exclusively<Result>(name: string, work: () => Result | Promise<Result>): Promise<Result> {
    const lockName = `${name}.lock`;
    const lock = join(this.dir, lockName);
    const owner = `${process.pid} ${randomUUID()}`;
    mkdirSync(this.dir, { recursive: true, mode: 0o700 });
    while (!createFile(lock, owner)) {
      if (isAbandoned(lock))
        await this.exclusively(lockName, () => {
          // Checked once more, under a lock of the lock: another process may have taken it over since.
          if (isAbandoned(lock)) rmSync(lock, { force: true });
        });
      else await delay(lockPollIntervalMs);
    }
    try {
      return await work();
    } finally {
      const isOwn = this.read(lockName) === owner; // false after another process took over an old lock
      if (isOwn) rmSync(lock, { force: true });
    }
  }
}

function createFile(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function isAbandoned(lock: string): boolean {
  try {
    if (Date.now() - statSync(lock).mtimeMs > maxLockAgeMs) return true;
    process.kill(parseInt(readFileSync(lock, 'utf8')), 0); // signal 0 only checks that the process exists
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH'; // no such process; another error does not show that it has ended
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
