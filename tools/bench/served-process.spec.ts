import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '../dev/eventually.ts';
import { runProgram } from '../dev/run-program.ts';
import { root } from '../dev/settings.ts';
import { processStartTime } from '../dev/supervisor/process-tree.ts';

describe('a server under measurement', () => {
  it('ends with the benchmark that started it, even if the benchmark does not stop it', async () => {
    const file = pathToFileURL(join(root, 'tools', 'bench', 'served-process.ts')).href;
    const server = 'console.log(process.pid); setInterval(() => {}, 1_000)';
    const benchmark = `
      const { ServedProcess } = await import(${JSON.stringify(file)});
      const server = new ServedProcess(['--eval', ${JSON.stringify(server)}], {});
      console.log(await server.waitForFirstLine());
      server.pause(); // so that it cannot notice that the benchmark has ended
      process.exit(1);`;
    const { output } = await runProgram(process.execPath, ['--input-type=module', '--eval', benchmark]);
    const pid = Number(/\d+/.exec(output)?.[0]);
    expect(pid).toBeGreaterThan(1); // without a server, the next line would succeed
    await eventually(() => processStartTime(pid) === undefined, 5_000, 'the server has ended');
  });
});
