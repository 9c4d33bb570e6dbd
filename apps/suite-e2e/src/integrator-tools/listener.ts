import { eventually } from '@fulfilment/testing';
import { spawn } from 'node:child_process';
import { z } from 'zod';
import { root, stateDir } from '../suite/the-suite.js';

const printedDelivery = z.object({
  event: z.string().nullable(),
  id: z.string().nullable(),
  delivery: z.string().nullable(),
  attempt: z.number().nullable(),
  verified: z.boolean(),
  test: z.boolean(),
  answered: z.number(),
  data: z.record(z.string(), z.unknown()).nullable(),
});

/** Starts `npm run -s tools -- listen --json …`; resolves when it has subscribed. */
export async function startListener(args: readonly string[]) {
  const child = spawn('npm', ['run', '-s', 'tools', '--', 'listen', '--json', ...args], {
    cwd: root,
    env: { ...process.env, SUITE_DEV_DIR: stateDir, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group, which gets a signal as by Ctrl-C
  });
  const streams = { output: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (streams.output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (streams.errors += text));
  const ended = new Promise<string>((resolve) => child.once('close', () => resolve(streams.errors)));
  const subscriptionId = await eventually(() => /whk_\w+(?= listens at )/.exec(streams.errors)?.[0], {
    describe: () => streams.errors,
  });
  return {
    subscriptionId,
    /** Resolves with the printed deliveries when there are `count`. */
    untilPrinted: (count: number) =>
      eventually(
        () => {
          const lines = streams.output.split('\n').slice(0, -1);
          return lines.length < count
            ? undefined
            : lines.map((line) => printedDelivery.parse(JSON.parse(line)));
        },
        { describe: () => `it printed ${streams.output}${streams.errors}` },
      ),
    /** Sends SIGINT; resolves with the standard error output when all its processes have ended. */
    stop: (): Promise<string> => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
      return ended;
    },
  };
}
