import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { readRunningSuite } from './dev/state/running-suite.ts';
import { readSettings, root } from './dev/settings.ts';

/** Runs `fulfilment` (libs/cli) against the running suite, with its session in the state directory. */
export async function runCli(args: readonly string[]): Promise<void> {
  const stack = await readRunningSuite();
  const child = spawn(process.execPath, [join(root, 'libs/cli/dist/main.js'), ...args], {
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_EXTRA_CA_CERTS: stack.ca_file,
      FULFILMENT_URL: stack.base_url,
      FULFILMENT_CLONE: root,
      FULFILMENT_CONFIG_DIR: join(readSettings().stateDir, 'cli'),
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  process.exitCode = await new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}
