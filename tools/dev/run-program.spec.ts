import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram, stopRunningPrograms } from './run-program.ts';

/** Prints `ready`, and on SIGTERM `removed` before it ends. */
const cleaner = `
process.on('SIGTERM', () => setImmediate(() => { console.log('removed'); process.exit(3); }));
setInterval(() => undefined, 1_000);
console.log('ready');`;

describe('runProgram', () => {
  it('keeps the input of a program open until `inputEnds` resolves', async () => {
    const { promise: inputEnds, resolve: endInput } = Promise.withResolvers<void>();
    const lines: string[] = [];
    const endInputLater = async (): Promise<void> => {
      await sleep(100); // a program without input would end in this time
      lines.push('input ends');
      endInput();
    };
    const outcome = runProgram('sh', ['-c', 'echo started; cat; echo ended'], {
      inputEnds,
      onLine: (line) => {
        lines.push(line);
        if (line === 'started') void endInputLater();
      },
    });
    expect((await outcome).code).toBe(0);
    expect(lines).toEqual(['started', 'input ends', 'ended']);
  });
});

describe('stopRunningPrograms', () => {
  it('waits for programs that remove what they created', async () => {
    const { promise: ready, resolve: isReady } = Promise.withResolvers<void>();
    const lines: string[] = [];
    void runProgram(process.execPath, ['-e', cleaner], {
      cleansUp: true,
      onLine: (line) => {
        lines.push(line);
        isReady();
      },
    });
    await ready;
    await stopRunningPrograms();
    expect(lines).toEqual(['ready', 'removed']);
  });
});
