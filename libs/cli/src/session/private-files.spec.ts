import { jest } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDir } from '../fake-suite.fixture.js';
import { PrivateFiles } from './private-files.js';

let dir: ReturnType<typeof temporaryDir>;
let path: string;
let files: PrivateFiles;
beforeEach(() => {
  dir = temporaryDir();
  path = join(dir.path, 'suite');
  files = new PrivateFiles(path);
});
afterEach(() => dir.remove());

describe('private files', () => {
  it('can be read only by this account, also after a replacement, and leave no temporary file', () => {
    expect(files.read('session.json')).toBeUndefined();
    files.write('session.json', 'one');
    files.write('session.json', 'two');
    expect(files.read('session.json')).toBe('two');
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(path, 'session.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(path)).toEqual(['session.json']);
  });

  it('run exclusive work one after another, and unlock after a failure', async () => {
    const log: string[] = [];
    const work = (name: string) =>
      files.exclusively('session', async () => {
        log.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        log.push(`${name} ends`);
        throw new Error(name);
      });
    await Promise.allSettled([work('first'), work('second')]);
    expect(log).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
    expect(readdirSync(path)).toEqual([]);
  });

  it('take over the lock of a process that has ended', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    files.write('any', ''); // creates the directory
    writeFileSync(join(path, 'session.lock'), String(pid));
    expect(await files.exclusively('session', () => Promise.resolve('done'))).toBe('done');
  });

  /** Locks `session` on behalf of this process, which exists. */
  function lockSince(ageMs: number): void {
    files.write('session.lock', String(process.pid));
    const lockedAtSeconds = (Date.now() - ageMs) / 1_000;
    utimesSync(join(path, 'session.lock'), lockedAtSeconds, lockedAtSeconds);
  }

  it('keep a lock of 16 minutes, which slow requests with all their retries may need', async () => {
    lockSince(16 * 60_000);
    const findOwner = jest.spyOn(process, 'kill').mockImplementationOnce(() => {
      rmSync(join(path, 'session.lock')); // the owner unlocks
      return true;
    });
    await files.exclusively('session', () => undefined);
    expect(findOwner).toHaveBeenCalledTimes(1);
    findOwner.mockRestore();
  });

  it('take over a lock of 21 minutes, whose process id the system has reused', async () => {
    lockSince(21 * 60_000);
    expect(await files.exclusively('session', () => 'done')).toBe('done');
  });

  it('do not take over an abandoned lock that another process has just taken over', async () => {
    files.write('session.lock', '1');
    // Only the first check finds that the owner has ended; during it, another process takes the lock over.
    const takeOverFirst = jest.spyOn(process, 'kill').mockImplementationOnce(() => {
      files.write('session.lock', String(process.pid));
      throw Object.assign(new Error('no such process'), { code: 'ESRCH' });
    });
    let hasBegun = false;
    const work = files.exclusively('session', () => {
      hasBegun = true;
    });
    await delay(200); // longer than the poll interval of the lock, 50 ms
    expect(hasBegun).toBe(false);
    takeOverFirst.mockRestore();
    rmSync(join(path, 'session.lock'));
    await work;
    expect(readdirSync(path)).toEqual([]);
  });

  it('leave a lock that another process has taken over because of its age', async () => {
    await files.exclusively('session', () => files.write('session.lock', 'another process'));
    expect(files.read('session.lock')).toBe('another process');
  });
});
