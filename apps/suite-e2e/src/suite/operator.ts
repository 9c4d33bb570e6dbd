import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { root, stateDir } from './the-suite.js';

const anything = z.record(z.string(), z.unknown());

/** Runs commands of auth-server in one process. Returns their results. @throws when one fails */
export async function operateAll<Shape extends z.ZodType>(
  commands: readonly (readonly string[])[],
  resultsShape: Shape,
): Promise<z.output<Shape>> {
  const output = await operate(['batch', '--service', 'auth-server'], JSON.stringify(commands));
  return resultsShape.parse(output['results']);
}

/** Runs an operator command (`npm run ops -- …`). Returns its JSON output. @throws when it fails */
export async function operate(args: readonly string[], input?: string): Promise<Record<string, unknown>> {
  const { status, output, errors } = await runTool('ops/ops.ts', [...args, '--json'], input);
  if (status !== 0) throw new Error(`ops ${args.join(' ')} ended with ${status}: ${errors}`);
  return anything.parse(JSON.parse(output));
}

/** Runs an operator command, which may fail. Returns its text output. */
export function runOps(args: readonly string[]) {
  return runTool('ops/ops.ts', args);
}

/** Runs `npm run stack -- …`, which stops, starts or kills one service or dependency. */
export async function stack(...args: readonly string[]): Promise<void> {
  const { status, errors } = await runTool('dev/stack.ts', args);
  if (status !== 0) throw new Error(`stack ${args.join(' ')} ended with ${status}: ${errors}`);
}

/** @param input standard input of the program; none by default */
async function runTool(file: string, args: readonly string[], input = '') {
  // Without npm and tools/bin.mjs, which take half a second. listen.spec.ts tests them.
  const program = ['--disable-warning=ExperimentalWarning', join(root, 'tools', file)];
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: root,
    env: { ...process.env, SUITE_DEV_DIR: stateDir, NODE_OPTIONS: '' },
  });
  child.stdin.on('error', () => undefined); // a program may end without reading its input
  child.stdin.end(input);
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)));
  const [output, errors, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, output, errors };
}
