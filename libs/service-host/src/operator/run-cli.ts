import { z } from 'zod';
import type { AuditedCommand } from './operator-audit.js';
import type { Commands } from './define-command.js';
import { readOperatorName } from './operator-name.js';
import { help, parseCommandLine, UsageError } from './command-line.js';

/** The open connections of a command. */
export interface OpenedContext<Context> {
  readonly context: Context;
  /** Runs a command as the operator and records it. */
  readonly runAudited: (command: AuditedCommand, run: () => Promise<object>) => Promise<object>;
  readonly close: () => Promise<void>;
}

export interface Cli<Context> {
  readonly commands: Commands<Context>;
  /** Commands that need no context and are not recorded. They are not part of a batch. */
  readonly standalone?: Commands<void>;
  /** Called once, after all command lines were validated. @param operator name of the person */
  open(operator: string): Promise<OpenedContext<Context>>;
  /** `CLI_PROGRAM` is how the program was started, for its help and usage. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The output: one line (several for help) on standard output, or on standard error after a failure. */
export interface CliOutput {
  readonly ok: boolean;
  readonly line: string;
}

const commandLines = z.array(z.array(z.string()));

/**
 * Runs one command line, or with `batch` a JSON array of command lines from standard input. A batch is
 * validated as a whole first; the first command that fails ends it.
 * @param input reads the standard input
 */
export async function runCli<Context>(
  cli: Cli<Context>,
  args: readonly string[],
  input: () => Promise<string>,
): Promise<CliOutput> {
  const { commands, environment } = cli;
  const program = environment['CLI_PROGRAM'] ?? 'node dist/cli.js';
  if (args.length === 0 || args.includes('--help') || args.includes('-h'))
    return { ok: true, line: help(program, { ...commands, ...cli.standalone }, args) };
  try {
    return { ok: true, line: JSON.stringify(await execute(program, cli, args, input)) };
  } catch (error) {
    return { ok: false, line: explain(error).replaceAll(/\s*\n\s*/g, ' ') };
  }
}

async function execute<Context>(
  program: string,
  cli: Cli<Context>,
  args: readonly string[],
  input: () => Promise<string>,
): Promise<object> {
  const standalone = findStandalone(program, cli, args);
  if (standalone !== undefined) return standalone();
  const { operator, rest } = readOperatorName(args, cli.environment);
  const isBatch = rest[0] === 'batch';
  const lines = isBatch ? await readBatch(rest.slice(1), input) : [rest];
  const parsed = lines.map((line) => parseCommandLine(program, cli.commands, line));
  const { context, runAudited, close } = await cli.open(operator);
  try {
    const results: object[] = [];
    for (const { audited, run } of parsed) results.push(await runAudited(audited, () => run(context)));
    return isBatch ? { results } : (results[0] ?? {});
  } finally {
    await close();
  }
}

async function readBatch(words: readonly string[], input: () => Promise<string>): Promise<string[][]> {
  const tooMany = words.find((word) => word !== '--json');
  if (tooMany !== undefined) throw new UsageError(`Too many arguments: "${tooMany}".`);
  const lines = commandLines.safeParse(parseJson(await input()));
  if (lines.success) return lines.data;
  throw new UsageError('The input of `batch` is not a JSON array of command lines, each an array of words.');
}

/** Returns undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function findStandalone<Context>(
  program: string,
  { standalone = {}, environment }: Cli<Context>,
  args: readonly string[],
): (() => Promise<object>) | undefined {
  // Only removes `--as NAME`: a standalone command needs no operator, so a default replaces a missing name.
  const { rest } = readOperatorName(args, { ...environment, OPERATOR: 'none' });
  if (!Object.hasOwn(standalone, rest[0] ?? '')) return undefined;
  return parseCommandLine(program, standalone, rest).run;
}

/** Returns the message of the error, without a stack. */
function explain(error: unknown): string {
  if (error instanceof z.ZodError)
    return error.issues
      .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
      .join('; ');
  // Node's error when no address accepts the connection.
  if (error instanceof AggregateError && error.message === '') return explain(error.errors[0]);
  return error instanceof Error && error.message !== '' ? error.message : 'The command failed.';
}
