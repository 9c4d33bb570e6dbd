import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { Failure } from '../dev/failure.ts';
import type { OperatorAccess } from './operator-access.ts';
import { opsCommand } from './services.ts';

const resultSchema = z.record(z.string(), z.unknown());

/**
 * Runs a command of a service's program with the service's settings. Returns the JSON object that it prints.
 * @param input the program's standard input; without it, the program uses the standard input and error
 *   output of this process
 * @throws Failure with the program's error line; empty without `input`, since the program has printed it
 */
export async function operate(
  access: Pick<OperatorAccess, 'environments' | 'programs'>,
  service: string,
  args: readonly string[],
  input?: string,
): Promise<Record<string, unknown>> {
  const stream = input === undefined ? 'inherit' : 'pipe';
  const [command = '', ...words] = access.programs[service] ?? [];
  const child = spawn(command, [...words, ...args], {
    cwd: process.env.INIT_CWD ?? process.cwd(), // npm runs scripts in the root of the repository
    env: {
      ...access.environments[service],
      CLI_PROGRAM: opsCommand,
      OPERATOR: process.env.OPERATOR || accountName(),
    },
    stdio: [stream, 'pipe', stream],
  });
  const ended = once(child, 'close'); // rejects if the program cannot be started
  child.stdin?.on('error', () => undefined); // the program may end without reading its input
  child.stdin?.end(input);
  const [output, errorOutput] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
    ended,
  ]);
  if (child.exitCode === 0) return resultSchema.parse(JSON.parse(output));
  throw new Failure(
    child.exitCode === 1 ? errorOutput.trim() : `The program of ${service} ended with ${child.exitCode}.`,
  );
}

/** Returns the operator's default name: that of the account on this machine, where the suite runs. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'developer'; // an account without a name
  }
}
