import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processStartTime } from './process-tree.ts';
import { killLeftovers } from './supervisor.ts';

describe('the processes that a killed supervisor left', () => {
  let stateDir: string;
  let file: string;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    stateDir = mkdtempSync(join(tmpdir(), 'supervisor-'));
    file = join(stateDir, 'processes.json');
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(stateDir, { recursive: true });
  });

  function startProcess(): { child: ChildProcess; pid: number; started_at: string } {
    const child = spawn('sleep', ['60']);
    children.push(child);
    const pid = child.pid ?? 0;
    return { child, pid, started_at: processStartTime(pid) ?? '' };
  }

  it('are killed, but not a process that has reused the pid of one', async () => {
    const [left, reused] = [startProcess(), startProcess()];
    const rows = [
      { name: 'redis', pid: left.pid, started_at: left.started_at },
      { name: 'store-api', pid: reused.pid, started_at: 'earlier' },
    ];
    writeFileSync(file, JSON.stringify(rows));
    const ended = once(left.child, 'exit');
    expect(await killLeftovers(stateDir)).toEqual(['redis']);
    expect((await ended)[1]).toBe('SIGKILL');
    expect(reused.child.exitCode ?? reused.child.signalCode).toBeNull();
    expect(existsSync(file)).toBe(false);
  });

  it('are unknown, so that none is killed, if their file is incomplete', async () => {
    writeFileSync(file, '[{"name":"red');
    expect(await killLeftovers(stateDir)).toEqual([]);
  });
});
