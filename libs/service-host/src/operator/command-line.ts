import { Command as Parser, CommanderError, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { AuditedCommand } from './operator-audit.js';
import type { Command, Commands } from './define-command.js';

/** The command line, or the input of a batch, is invalid. The message is one line. */
export class UsageError extends Error {}

/** A valid command line. */
export interface ParsedCommand<Context> {
  /** What the audit log records of it. */
  readonly audited: AuditedCommand;
  readonly run: (context: Context) => Promise<object>;
}

/**
 * Parses a command line.
 * @param program how the program is started, for messages
 * @throws UsageError
 */
export function parseCommandLine<Context>(
  program: string,
  commands: Commands<Context>,
  args: readonly string[],
): ParsedCommand<Context> {
  const found = findCommand(commands, args);
  if (found === undefined) throw new UsageError(describeUnknownCommand(program, commands, args));
  const { name, command } = found;
  const parser = newParser(program, name, command);
  try {
    const values = readArguments(parser, command, args.slice(name.split(' ').length));
    const audited = {
      name,
      operands: command.operands.flatMap((operand) => values[operand] ?? []).map(String),
      options: parser.options.map((option) => option.name()).filter((option) => option in values),
    };
    return { audited, run: command.prepare(values) };
  } catch (error) {
    throw new UsageError(`${explain(error, parser, command)} Usage: ${program} ${usage(name, command)}`);
  }
}

/** Returns help for the command of the command line, or the list of all commands. */
export function help(program: string, commands: Commands<never>, args: readonly string[]): string {
  const found = findCommand(commands, args);
  if (found !== undefined) return newParser(program, found.name, found.command).helpInformation().trimEnd();
  const list = Object.entries(commands).map(
    ([name, command]) => `  ${usage(name, command)}\n      ${command.summary}`,
  );
  return [
    `${program} COMMAND [--as OPERATOR]: runs one command and prints one JSON object. \`batch\` reads a JSON array of`,
    'command lines, each an array of words, from standard input, and runs them in order.',
    '',
    ...list,
  ].join('\n');
}

/** Returns the command with whose name the arguments begin. */
function findCommand<Context>(
  commands: Commands<Context>,
  args: readonly string[],
): { readonly name: string; readonly command: Command<Context> } | undefined {
  for (const [name, command] of Object.entries(commands))
    if (name.split(' ').every((word, index) => args[index] === word)) return { name, command };
  return undefined;
}

function describeUnknownCommand(program: string, commands: object, args: readonly string[]): string {
  const [noun = '', verb = ''] = args.filter((arg) => !arg.startsWith('-'));
  const verbs = Object.keys(commands).flatMap((name) =>
    name.startsWith(`${noun} `) ? name.slice(noun.length + 1) : [],
  );
  const hint = verbs.length > 0 ? `Commands of "${noun}": ${verbs.join(', ')}. ` : '';
  return `Unknown command "${`${noun} ${verb}`.trim()}". ${hint}All commands: ${program} --help`;
}

/** Returns the usage of a command: `order deliver ORDER [--tracking-number NUMBER]`. */
function usage(name: string, { operands, options, required }: Command<never>): string {
  const parts = [...operands, ...options.map((option) => option.replaceAll(/[<>]/g, ''))];
  const isRequired = (part: string): boolean => {
    const [argument = ''] = part.replace(/^--/, '').split(' ', 1);
    return required.has(argument);
  };
  return [name, ...parts.map((part) => (isRequired(part) ? part : `[${part}]`))].join(' ');
}

function newParser(program: string, name: string, command: Command<never>): Parser {
  const parser = new Parser(program)
    .usage(usage(name, command))
    .description(command.summary)
    .allowExcessArguments() // reported by readArguments
    .showSuggestionAfterError(false)
    .configureOutput({ writeErr: () => undefined })
    .exitOverride()
    .option('--json', 'print JSON');
  for (const flags of command.options) {
    const option = new Option(flags);
    const hasOneValue = option.required && !option.variadic; // `required`: it needs a value
    parser.addOption(hasOneValue ? option.argParser(onlyOnce) : option);
  }
  return parser;
}

function onlyOnce(value: string, previous: string | undefined): string {
  if (previous !== undefined) throw new InvalidArgumentError(''); // `explainParserError` has the message
  return value;
}

function readArguments(
  parser: Parser,
  { operands }: Command<never>,
  args: readonly string[],
): Readonly<Record<string, unknown>> {
  // Commander would use the next option as the value. A value that looks like an option needs `--name=-x`.
  const withoutValue = args.find(
    (arg, index) => takesValue(parser, arg) && /^--?[a-z]/i.test(args[index + 1] ?? ''),
  );
  if (withoutValue !== undefined) throw new UsageError(`${withoutValue} needs a value.`);
  parser.parse(args, { from: 'user' });
  const [tooMany] = parser.args.slice(operands.length);
  if (tooMany !== undefined) throw new UsageError(`Too many arguments: "${tooMany}".`);
  const values = [
    ...operands.map((name, index): [string, unknown] => [name, parser.args[index]]),
    ...parser.options.map((option): [string, unknown] => [
      option.name(),
      parser.getOptionValue(option.attributeName()),
    ]),
  ].filter(([name, value]) => value !== undefined && name !== 'json');
  const empty = values.find(([, value]) =>
    [value].flat().some((text) => typeof text === 'string' && text.trim() === ''),
  );
  if (empty !== undefined) throw new UsageError(`${label(empty[0], operands)} must not be empty.`);
  return Object.fromEntries(values);
}

function takesValue(parser: Parser, arg: string): boolean {
  return parser.options.some(({ long, required }) => long === arg && required);
}

function explain(error: unknown, parser: Parser, { operands }: Command<never>): string {
  if (error instanceof UsageError) return error.message;
  if (error instanceof CommanderError) return explainParserError(error, parser);
  if (!(error instanceof z.ZodError)) throw error;
  const lines = error.issues.map(({ path, message }) => `${label(String(path[0]), operands)} ${message}.`);
  return [...new Set(lines)].join(' ');
}

function explainParserError({ code, message }: CommanderError, parser: Parser): string {
  const option = /'(-[^' =]*)/.exec(message)?.[1] ?? ''; // commander quotes it: '--name <NAME>'
  if (code === 'commander.optionMissingArgument') return `${option} needs a value.`;
  if (code === 'commander.invalidArgument') return `${option} must be given only once.`;
  const isKnown = parser.options.some(({ long }) => long === option);
  return isKnown ? `${option} takes no value.` : `Unknown option ${option}.`;
}

/** Names an option as it is typed (`--redirect-uri`), an operand by its name. */
function label(name: string, operands: readonly string[]): string {
  return operands.includes(name) ? name : `--${name}`;
}
