import { parseArgs, type ParseArgsConfig } from 'node:util';
import { z } from 'zod';
import type { RecordedCommand } from './operator-audit.js';
import type { FlagKind, OperatorCommand, OperatorCommands } from './operator-command.js';

/** What was typed is not a command. The message is one line that names what is wrong as it was typed. */
export class WrongCommandLine extends Error {}

const kinds = {
  text: { type: 'string' },
  texts: { type: 'string', multiple: true },
  alone: { type: 'boolean' },
} as const satisfies Record<FlagKind, object>;

/** A checked command line: what is recorded of it, and its work. */
export interface ReadCommand<Context> {
  readonly recorded: RecordedCommand;
  readonly run: (context: Context) => Promise<object>;
}

/** From the words of a command line to the work they ask for. @throws WrongCommandLine */
export function readOperatorCommand<Context>(
  commands: OperatorCommands<Context>,
  args: readonly string[],
): ReadCommand<Context> {
  const name = Object.keys(commands).find((words) =>
    words.split(' ').every((word, index) => args[index] === word),
  );
  const command = name === undefined ? undefined : commands[name];
  if (name === undefined || command === undefined) throw new WrongCommandLine(unknown(commands, args));
  const given = readArguments(command, args.slice(name.split(' ').length));
  try {
    const recorded = {
      name,
      operands: command.operands.flatMap((operand) => given[operand] ?? []).map(String),
      options: Object.keys(command.flags).filter((flag) => given[flag] !== undefined),
    };
    return { recorded, run: command.prepare(given) };
  } catch (error) {
    if (error instanceof z.ZodError) throw new WrongCommandLine(complaints(error, command));
    throw error;
  }
}

function unknown(commands: object, args: readonly string[]): string {
  const typed = args.filter((arg) => !arg.startsWith('-')).slice(0, 2);
  return `There is no command "${typed.join(' ')}". Commands: ${Object.keys(commands).join(', ')}.`;
}

function readArguments<Context>(
  command: OperatorCommand<Context>,
  args: readonly string[],
): Record<string, unknown> {
  const options: NonNullable<ParseArgsConfig['options']> = {
    json: kinds.alone, // there is no other output
    ...Object.fromEntries(Object.entries(command.flags).map(([name, kind]) => [name, kinds[kind]])),
  };
  const { values, positionals } = parse(args, options);
  const [tooMany] = positionals.slice(command.operands.length);
  if (tooMany !== undefined) throw new WrongCommandLine(`"${tooMany}" is one word too many.`);
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
    throw new WrongCommandLine(error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error));
  }
}

/** A flag as it is typed (`--redirect-uri`), an operand by its name. */
function complaints<Context>(error: z.ZodError, { operands }: OperatorCommand<Context>): string {
  const lines = error.issues.map(({ path: [name = ''], message }) => {
    const label = String(name);
    return `${operands.includes(label) ? label : `--${label}`} ${message}.`;
  });
  return [...new Set(lines)].join(' ');
}
