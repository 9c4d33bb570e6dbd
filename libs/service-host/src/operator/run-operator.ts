import { z } from 'zod';
import type { OperatorCommands } from './operator-command.js';
import { operatorUsage } from './operator-usage.js';
import { readOperatorCommand } from './read-operator-command.js';

/** The stores of a command, open while it runs. */
export interface OpenContext<Context> {
  readonly context: Context;
  readonly close: () => Promise<void>;
}

export interface OperatorProgram<Context> {
  readonly commands: OperatorCommands<Context>;
  /** Called once a process, and not for a command line that is wrong. */
  open(): Promise<OpenContext<Context>>;
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
  const batch = args[0] === 'batch';
  const lines = batch ? commandLines.parse(JSON.parse(await input())) : [args];
  const work = lines.map((line) => readOperatorCommand(program.commands, line));
  const { context, close } = await program.open();
  try {
    const results: object[] = [];
    for (const run of work) results.push(await run(context));
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
