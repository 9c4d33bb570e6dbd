import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { Failure } from '../dev/failure.ts';
import { root } from '../dev/settings.ts';
import { operatorName } from './operator-name.ts';
import type { RunningSuite } from './running-suite.ts';

const resultSchema = z.record(z.string(), z.unknown());

/** Standard input and error of the command, which the service's program uses directly. */
export const ownInput = Symbol('own input');

/**
 * Runs a service's operator program with its settings and returns the JSON object it prints.
 * @throws Failure with its error line
 */
export async function operate(
  suite: Pick<RunningSuite, 'environments'>,
  service: string,
  args: readonly string[],
  input: string | typeof ownInput = '',
): Promise<Record<string, unknown>> {
  const program = join(root, 'apps', service, 'dist', 'operate.js');
  const outside = input === ownInput ? 'inherit' : 'pipe';
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...suite.environments[service], OPERATOR: operatorName() },
    stdio: [outside, 'pipe', outside],
  });
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)));
  child.stdin?.on('error', () => undefined); // the program may end without reading its input
  if (input !== ownInput) child.stdin?.end(input);
  const [output, complaint, code] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
    ended,
  ]);
  if (code !== 0) throw new Failure(complaint.trim() || `${program} ended with status ${code}.`);
  return resultSchema.parse(JSON.parse(output));
}
