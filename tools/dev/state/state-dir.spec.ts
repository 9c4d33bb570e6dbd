import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { emptyStateDir, watchForRemoval } from './state-dir.ts';
import { Supervisor } from '../supervisor/supervisor.ts';

describe('a state directory', () => {
  const parent = mkdtempSync(join(tmpdir(), 'state-dir-'));
  const stateDir = join(parent, 'first');
  beforeEach(() => makeSuite(stateDir));
  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  function makeSuite(dir: string): void {
    mkdirSync(join(dir, 'logs'), { recursive: true });
    writeFileSync(join(dir, 'logs', 'store-api.log'), '');
    writeFileSync(join(dir, 'secrets.json'), '{}');
  }

  it('is deleted with everything that its suite created', () => {
    emptyStateDir(stateDir);
    expect(existsSync(stateDir)).toBe(false);
  });

  // A suite itself also creates a folder `redis`.
  it.each(['second', 'test', 'redis'])('keeps another suite in its folder "%s"', (name) => {
    makeSuite(join(stateDir, name));
    emptyStateDir(stateDir);
    expect(readdirSync(stateDir)).toEqual([name]);
    expect(readdirSync(join(stateDir, name))).toEqual(['logs', 'secrets.json']);
  });

  it('keeps files that no suite created', () => {
    writeFileSync(join(stateDir, 'notes.txt'), '');
    emptyStateDir(stateDir);
    expect(readdirSync(stateDir)).toEqual(['notes.txt']);
  });

  it('reports its removal even if it was created again', async () => {
    const removed = new Promise<string>((resolve) => watchForRemoval(stateDir, () => resolve('removed')));
    rmSync(stateDir, { recursive: true });
    mkdirSync(stateDir);
    expect(await Promise.race([removed, sleep(5_000, 'unnoticed', { ref: false })])).toBe('removed');
  });

  it('can be removed before its supervisor stops the processes that it started', async () => {
    const supervisor = new Supervisor(stateDir, { line: () => undefined, notice: () => undefined });
    const part = await supervisor.start({
      name: 'sample',
      kind: 'service',
      program: process.execPath,
      args: ['-e', 'setInterval(() => {}, 1000)'],
      env: {},
      ready: () => Promise.resolve(true),
    });
    rmSync(stateDir, { recursive: true });
    await part.kill(); // the supervisor cannot write processes.json, and continues
    await supervisor.stopAll(() => undefined);
    expect(part.status()).toMatchObject({ state: 'stopped', pid: null });
  });
});
