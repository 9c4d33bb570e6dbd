import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  it('can be read only by this account, also after a replacement, and leave no draft', () => {
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
});
