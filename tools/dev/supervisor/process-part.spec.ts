import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { ProcessPart, type ProcessPlan, restartDelayMs } from './process-part.ts';

/** A process that prints a line and has a child process. */
const program = `require('node:child_process').spawn('sleep', ['60']); console.log('up'); setInterval(() => {}, 1000);`;

describe('a supervised process', () => {
  const started: ProcessPart[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((part) => part.stop()));
  });

  function part(plan: Partial<ProcessPlan> = {}): ProcessPart {
    const lines: string[] = [];
    const processPart = new ProcessPart(
      {
        name: 'sample',
        kind: 'service',
        program: process.execPath,
        args: ['-e', program],
        env: { PATH: process.env.PATH ?? '' },
        ready: () => Promise.resolve(lines.includes('up')),
        ...plan,
      },
      { line: (_name, line) => lines.push(line), notice: () => undefined, changed: () => undefined },
    );
    started.push(processPart);
    return processPart;
  }

  it('is restarted with another pid after it was killed', async () => {
    const sample = part();
    await sample.start();
    const before = sample.status().pid;
    await sample.kill();
    while (sample.status().state !== 'running') await sleep(20);
    expect(sample.status()).toMatchObject({ restarts: 1, state: 'running' });
    expect(sample.status().pid).not.toBe(before);
  });

  it('is not restarted after a stop', async () => {
    const sample = part();
    await sample.start();
    await sample.stop();
    await sleep(restartDelayMs(0) + 200);
    expect(sample.status()).toMatchObject({ state: 'stopped', pid: null, restarts: 0 });
  });

  it('is killed if it is paused and ignores the stop signal', async () => {
    const sample = part({
      args: ['-e', `process.on('SIGTERM', () => {}); ${program}`],
      stopTimeoutMs: 200,
    });
    await sample.start();
    await sample.pause();
    expect(sample.status().state).toBe('paused');
    await sample.stop();
    expect(sample.status()).toMatchObject({ state: 'stopped', pid: null });
  });

  it('reports its exit and last line when it cannot start', async () => {
    const sample = part({ args: ['-e', `process.stderr.write('no such setting'); process.exitCode = 78`] });
    await expect(sample.start()).rejects.toThrow(/exited during start-up:\nno such setting/);
  });

  it('is started once by concurrent starts, even if an earlier start was stopped while it prepared', async () => {
    const preparing: PromiseWithResolvers<void>[] = [];
    const sample = part({
      prepare: () => {
        const step = Promise.withResolvers<void>();
        preparing.push(step);
        return step.promise;
      },
    });
    const stopped = sample.start().catch((error: unknown) => error);
    await sample.stop();
    const starts = [sample.start(), sample.start()];
    preparing[0]?.resolve();
    expect(String(await stopped)).toContain('was stopped during start-up');
    while (preparing.length < 2) await setImmediate();
    preparing[1]?.resolve();
    await Promise.all(starts);
    expect(preparing).toHaveLength(2); // one for the stopped start, one for the two others
    expect(sample.status().state).toBe('running');
  });

  it('is not paused while it stops', async () => {
    const sample = part();
    await sample.start();
    const stopping = sample.stop();
    await expect(sample.pause()).rejects.toThrow('is being stopped');
    await stopping;
    expect(sample.status()).toMatchObject({ state: 'stopped', pid: null });
  });

  it('is not running after a resume until it is ready', async () => {
    let isReady = false;
    const sample = part({ ready: () => Promise.resolve(isReady) });
    const starting = sample.start();
    while (sample.status().pid === null) await setImmediate();
    await sample.pause();
    await sample.resume();
    expect(sample.status().state).toBe('starting');
    isReady = true;
    await starting;
    expect(sample.status().state).toBe('running');
  });

  it('stays stopped if it is stopped while a restart prepares it', async () => {
    const preparing = Promise.withResolvers<void>();
    const prepared = Promise.withResolvers<void>();
    let starts = 0;
    const sample = part({
      prepare: async () => {
        starts += 1;
        if (starts === 1) return;
        preparing.resolve();
        await prepared.promise;
      },
    });
    await sample.start();
    await sample.kill();
    await preparing.promise;
    await sample.stop();
    prepared.resolve();
    await setImmediate();
    expect(sample.status()).toMatchObject({ state: 'stopped', pid: null });
  });
});

describe('restartDelayMs', () => {
  it('doubles the delay with each early death after the first, to 5 s at most', () => {
    expect([0, 1, 2, 3, 4, 5, 50].map(restartDelayMs)).toEqual([500, 500, 1000, 2000, 4000, 5000, 5000]);
  });
});
