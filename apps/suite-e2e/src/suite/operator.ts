import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { root, stateDir } from './the-suite.js';

export interface CommandResult {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

const anything = z.record(z.string(), z.unknown());

/** Runs an operator command (`npm run ops -- …`) and parses its JSON output. @throws when it fails */
export async function ops<Shape extends z.ZodType>(
  args: readonly string[],
  shape: Shape,
): Promise<z.output<Shape>> {
  return shape.parse(await operate(args));
}

/** Runs an operator command. Returns its JSON output. @throws when it fails */
export async function operate(args: readonly string[]): Promise<Record<string, unknown>> {
  const { status, output, errors } = await runOps([...args, '--json']);
  if (status !== 0) throw new Error(`ops ${args.join(' ')} ended with ${status}: ${errors}`);
  return anything.parse(JSON.parse(output));
}

/** Runs an operator command, which may fail. Returns its text output. */
export function runOps(args: readonly string[]): Promise<CommandResult> {
  return runScript('ops', args);
}

/** Runs `npm run stack -- …`, which stops, starts or kills one service or dependency. */
export async function stack(...args: readonly string[]): Promise<void> {
  const { status, errors } = await runScript('stack', args);
  if (status !== 0) throw new Error(`stack ${args.join(' ')} ended with ${status}: ${errors}`);
}

async function runScript(script: string, args: readonly string[]): Promise<CommandResult> {
  // Without npm, which costs a third of a second each time; listener.ts goes through npm.
  const child = spawn(process.execPath, [join(root, 'tools', 'bin.mjs'), script, ...args], {
    cwd: root,
    env: { ...process.env, SUITE_DEV_DIR: stateDir, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)));
  const [output, errors, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, output, errors };
}
