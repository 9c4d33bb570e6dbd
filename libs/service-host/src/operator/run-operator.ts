import { z } from 'zod';
import type { RecordedCommand } from './operator-audit.js';
import type { OperatorCommands } from './operator-command.js';
import { readOperatorName } from './operator-name.js';
import { operatorUsage } from './operator-usage.js';
import { readOperatorCommand } from './read-operator-command.js';

/** The stores of a command, open while it runs. */
export interface OpenContext<Context> {
  readonly context: Context;
  /** Runs a command in the operator's name and records it. */
  readonly runRecorded: (command: RecordedCommand, run: () => Promise<object>) => Promise<object>;
  readonly close: () => Promise<void>;
}

export interface OperatorProgram<Context> {
  readonly commands: OperatorCommands<Context>;
  /** Called once a process, and not for a command line that is wrong. @param operator who runs the commands */
  open(operator: string): Promise<OpenContext<Context>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What the program says: one line (many when help was asked for), on standard output or, having failed, on standard error. */
export interface OperatorAnswer {
  readonly ok: boolean;
  readonly line: string;
}

const commandLines = z.array(z.array(z.string()));

/**
 * Does what one command line asks, or, given `batch`, each of a JSON array of command lines from the standard input, in one process:
 * all of them are checked first, then the first that fails ends it. @param input reads the standard input
 */
export async function runOperator<Context>(
  program: OperatorProgram<Context>,
  args: readonly string[],
  input: () => Promise<string>,
): Promise<OperatorAnswer> {
  if (args.length === 0 || args.includes('--help'))
    return { ok: true, line: operatorUsage(program.commands) };
  try {
    return { ok: true, line: JSON.stringify(await answer(program, args, input)) };
  } catch (error) {
    return { ok: false, line: explain(error).replaceAll(/\s*\n\s*/g, ' ') };
  }
}

async function answer<Context>(
  program: OperatorProgram<Context>,
  args: readonly string[],
  input: () => Promise<string>,
): Promise<object> {
  const { operator, rest } = readOperatorName(args, program.environment);
  const batch = rest[0] === 'batch';
  const lines = batch ? commandLines.parse(JSON.parse(await input())) : [rest];
  const work = lines.map((line) => readOperatorCommand(program.commands, line));
  const { context, runRecorded, close } = await program.open(operator);
  try {
    const results: object[] = [];
    for (const { recorded, run } of work) results.push(await runRecorded(recorded, () => run(context)));
    return batch ? { results } : (results[0] ?? {});
  } finally {
    await close();
  }
}

/** In one line, without a stack. */
function explain(error: unknown): string {
  if (error instanceof z.ZodError)
    return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  if (error instanceof AggregateError && error.message === '') return explain(error.errors[0]); // no address answered
  return error instanceof Error && error.message !== '' ? error.message : 'The command failed.';
}
