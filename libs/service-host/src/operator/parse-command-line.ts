import { parseArgs, type ParseArgsConfig } from 'node:util';
import { z } from 'zod';
import type { AuditedCommand } from './operator-audit.js';
import type { FlagKind, Command, Commands } from './define-command.js';

/** The command line is invalid. The message is one line that names the invalid part as typed. */
export class UsageError extends Error {}

const kinds = {
  text: { type: 'string' },
  texts: { type: 'string', multiple: true },
  alone: { type: 'boolean' },
} as const satisfies Record<FlagKind, object>;

/** A valid command line: its recorded part and its function. */
export interface ParsedCommand<Context> {
  readonly audited: AuditedCommand;
  readonly run: (context: Context) => Promise<object>;
}

/** Parses a command line. @throws UsageError */
export function parseCommandLine<Context>(
  commands: Commands<Context>,
  args: readonly string[],
): ParsedCommand<Context> {
  const name = Object.keys(commands).find((words) =>
    words.split(' ').every((word, index) => args[index] === word),
  );
  const command = name === undefined ? undefined : commands[name];
  if (name === undefined || command === undefined) throw new UsageError(unknown(commands, args));
  const given = readArguments(command, args.slice(name.split(' ').length));
  try {
    const audited = {
      name,
      operands: command.operands.flatMap((operand) => given[operand] ?? []).map(String),
      options: Object.keys(command.flags).filter((flag) => given[flag] !== undefined),
    };
    return { audited, run: command.prepare(given) };
  } catch (error) {
    if (error instanceof z.ZodError) throw new UsageError(issueMessages(error, command));
    throw error;
  }
}

function unknown(commands: object, args: readonly string[]): string {
  const typed = args.filter((arg) => !arg.startsWith('-')).slice(0, 2);
  return `Unknown command "${typed.join(' ')}". Commands: ${Object.keys(commands).join(', ')}.`;
}

function readArguments<Context>(command: Command<Context>, args: readonly string[]): Record<string, unknown> {
  const options: NonNullable<ParseArgsConfig['options']> = {
    json: kinds.alone, // accepted; the output is always JSON
    ...Object.fromEntries(Object.entries(command.flags).map(([name, kind]) => [name, kinds[kind]])),
  };
  const { values, positionals } = parse(args, options);
  const [tooMany] = positionals.slice(command.operands.length);
  if (tooMany !== undefined) throw new UsageError(`Too many arguments: "${tooMany}".`);
  const { json: _json, ...flags } = { ...values };
  const operands = command.operands.map((name, index): [string, string | undefined] => [
    name,
    positionals[index],
  ]);
  return { ...flags, ...Object.fromEntries(operands) };
}

function parse(args: readonly string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error));
  }
}

/** Names an option as it is typed (`--redirect-uri`), an operand by its name. */
function issueMessages<Context>(error: z.ZodError, { operands }: Command<Context>): string {
  const lines = error.issues.map(({ path: [name = ''], message }) => {
    const label = String(name);
    return `${operands.includes(label) ? label : `--${label}`} ${message}.`;
  });
  return [...new Set(lines)].join(' ');
}
