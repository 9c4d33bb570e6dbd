import { parseArgs } from 'node:util';
import { Failure } from '../dev/failure.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';

const program = 'npm run -s ops --';

/** The parsed command line: a request for help, or a command with its arguments as typed. */
export type CommandLine =
  | { readonly help: string }
  | { readonly command: Command; readonly json: boolean; readonly given: Readonly<Record<string, unknown>> };

const generalHelp = `${program} <command> [--json]

${commands.map(({ usage }) => `  ${usage}`).join('\n')}

ORDER and SKU are ids of the Store API (ord_…, prod_…). CREATOR and RELEASE are UUIDs or ids. USER is a UUID or an e-mail address.
T is an ISO 8601 time, or a duration before now: 30m, 2h, 7d.
Commands for orders and products publish the messages of a warehouse, and return when the messages are applied.`;

/** @throws Failure with one line that states the problem and the usage */
export function readCommandLine(args: readonly string[]): CommandLine {
  const from = args.findIndex((arg) => arg !== '--json');
  const typed = from === -1 ? args : [...args.slice(from), ...args.slice(0, from)]; // --json may come first
  const command = commands.find(({ words }) => words.every((word, index) => typed[index] === word));
  const isHelpRequest = args.length === 0 || args.some((arg) => arg === '--help' || arg === '-h');
  if (isHelpRequest)
    return { help: command === undefined ? generalHelp : `${program} ${command.usage} [--json]` };
  if (command === undefined) throw new Failure(unknownCommand(typed));
  return readArguments(command, typed.slice(command.words.length));
}

function unknownCommand(args: readonly string[]): string {
  const [noun = '', verb = ''] = args.filter((arg) => !arg.startsWith('-'));
  if (noun === '') return `A command is missing. All commands: ${program} --help`;
  const verbs = commands.flatMap(({ words }) => (words[0] === noun ? words.slice(1, 2) : []));
  const hint = verbs.length > 0 ? `Commands of "${noun}": ${verbs.join(', ')}. ` : '';
  return `Unknown command "${`${noun} ${verb}`.trim()}". ${hint}All commands: ${program} --help`;
}

function readArguments(command: Command, args: readonly string[]): CommandLine {
  const flags: Command['flags'] = { json: { type: 'boolean' }, ...command.flags };
  const { tokens, values } = parseArgs({
    args: [...args],
    options: flags,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const positionals = new Map<number, string>();
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const token of tokens) {
    const typed = args[token.index] ?? '';
    if (token.kind === 'positional') positionals.set(token.index, token.value);
    if (token.kind !== 'option') continue;
    if (/^-\d/.test(typed)) {
      positionals.set(token.index, typed); // a negative number
      continue;
    }
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined;
    if (flag === undefined) problems.push(`Unknown option ${token.rawName}.`);
    else if (flag.type === 'boolean' && token.value !== undefined)
      problems.push(`${token.rawName} takes no value.`);
    else if (flag.type === 'string' && (token.value === undefined || isOption(token)))
      problems.push(`${token.rawName} needs a value.`);
    else if (seen.has(token.name) && flag.multiple !== true)
      problems.push(`${token.rawName} must be given only once.`);
    seen.add(token.name);
  }
  const words = [...positionals.values()];
  problems.push(...words.slice(command.positionals.length).map((word) => `Too many arguments: "${word}".`));
  if (problems.length > 0) throw wrong(command, problems);
  const { json, ...options }: Record<string, unknown> = { ...values };
  const named = command.positionals.map((name, index): [string, string | undefined] => [name, words[index]]);
  const given = { ...known(options, command), ...Object.fromEntries(named) };
  const result = command.arguments.safeParse(given);
  // As typed: the command reads them itself.
  if (result.success) return { command, json: json === true, given };
  throw wrong(
    command,
    result.error.issues.map(({ path, message }) => `${formatLabel(path[0], command)} ${message}.`),
  );
}

/**
 * In `--name --json` the value of `--name` is missing. A value that begins with a dash is written
 * `--name=-x`.
 */
function isOption(token: { value?: string; inlineValue?: boolean }): boolean {
  return token.inlineValue === false && /^--?[a-z]/i.test(token.value ?? '');
}

/** Removes options that are in fact negative numbers. */
function known(options: Readonly<Record<string, unknown>>, command: Command): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(command.flags, name)));
}

function formatLabel(name: PropertyKey | undefined, command: Command): string {
  const label = String(name);
  return command.positionals.includes(label) ? label : `--${label}`;
}

function wrong(command: Command, problems: readonly string[]): Failure {
  return new Failure(`${[...new Set(problems)].join(' ')} Usage: ${program} ${command.usage}`);
}
