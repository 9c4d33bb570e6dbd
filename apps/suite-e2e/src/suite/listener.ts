import { eventually } from '@fulfilment/testing';
import { spawn } from 'node:child_process';
import { z } from 'zod';
import { root, stateDir } from './the-suite.js';

const report = z.object({
  event: z.string().nullable(),
  id: z.string().nullable(),
  delivery: z.string().nullable(),
  attempt: z.number().nullable(),
  verified: z.boolean(),
  test: z.boolean(),
  answered: z.number(),
  data: z.record(z.string(), z.unknown()).nullable(),
});

/** `npm run -s tools -- listen --json …`, running. */
export interface Listener {
  readonly subscriptionId: string;
  /** Resolves with the first `count` deliveries it printed. */
  printed(count: number): Promise<readonly z.output<typeof report>[]>;
  /** Asks it to end, as a terminal does; resolves with what it told about itself when all it started is gone. */
  stop(): Promise<string>;
}

/** Resolves once it is subscribed. */
export async function listener(args: readonly string[]): Promise<Listener> {
  const child = spawn('npm', ['run', '-s', 'tools', '--', 'listen', '--json', ...args], {
    cwd: root,
    env: { ...process.env, SUITE_DEV_DIR: stateDir, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group of its own, so that it can be sent what Ctrl-C sends: a signal to all of it
  });
  const said = { output: '', complaint: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.complaint += text));
  const ended = new Promise<string>((resolve) => child.once('close', () => resolve(said.complaint)));
  const subscriptionId = await eventually(
    () => /whk_\w+(?= listens at )/.exec(said.complaint)?.[0],
    20_000,
    () => said.complaint,
  );
  return {
    subscriptionId,
    printed: (count) =>
      eventually(
        () => {
          const lines = said.output.split('\n').slice(0, -1);
          return lines.length < count ? undefined : lines.map((line) => report.parse(JSON.parse(line)));
        },
        15_000,
        () => `it printed ${said.output}${said.complaint}`,
      ),
    stop: () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
      return ended;
    },
  };
}
