import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { root, stateDir } from './the-suite.js';

export interface Ended {
  readonly status: number;
  readonly output: string;
  readonly complaint: string;
}

const anything = z.record(z.string(), z.unknown());

/** Runs `npm run -s ops -- …` and answers what it printed, in the shape asked for. @throws when it ended badly */
export async function ops<Shape extends z.ZodType>(
  args: readonly string[],
  shape: Shape,
): Promise<z.output<Shape>> {
  return shape.parse(await operate(args));
}

/** The same where the answer does not matter. */
export async function operate(args: readonly string[]): Promise<Record<string, unknown>> {
  const { status, output, complaint } = await tryOps([...args, '--json']);
  if (status !== 0) throw new Error(`ops ${args.join(' ')} ended with ${status}: ${complaint}`);
  return anything.parse(JSON.parse(output));
}

/** The same, for commands that are expected to fail. */
export function tryOps(args: readonly string[]): Promise<Ended> {
  return runScript('ops', args);
}

/** `npm run stack -- …`: stops, starts and kills one service or dependency. */
export async function stack(...args: readonly string[]): Promise<void> {
  const { status, complaint } = await runScript('stack', args);
  if (status !== 0) throw new Error(`stack ${args.join(' ')} ended with ${status}: ${complaint}`);
}

async function runScript(script: string, args: readonly string[]): Promise<Ended> {
  const child = spawn('npm', ['run', '-s', script, '--', ...args], {
    cwd: root,
    env: { ...process.env, SUITE_DEV_DIR: stateDir, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)));
  const [output, complaint, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, output, complaint: complaint.replace(/^npm warn .*\n/gm, '') };
}
