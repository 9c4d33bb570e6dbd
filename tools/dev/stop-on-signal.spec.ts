import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eachLine, exitCodeInterrupted } from './run-program.ts';

/** Stops when its input ends. */
const program = `
import { once } from 'node:events';
import { stopOnSignal } from '${join(import.meta.dirname, 'stop-on-signal.ts')}';
stopOnSignal(async () => {
  console.log('stopping');
  await once(process.stdin.resume(), 'end');
  console.log('stopped');
});
setInterval(() => undefined, 1_000);
console.log('ready');`;

it('a program stops once and completely, although one Ctrl-C arrives twice', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  eachLine(child.stdout, (line) => {
    lines.push(line);
    if (line !== 'stopped') child.kill('SIGINT');
    if (line === 'stopping') child.stdin.end();
  });
  expect(await once(child, 'close')).toEqual([exitCodeInterrupted, null]);
  expect(lines).toEqual(['ready', 'stopping', 'stopped']);
});
