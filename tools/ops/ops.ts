import { parseArgs, type ParseArgsConfig } from 'node:util';
import { z } from 'zod';
import { Failure, reasonOf } from '../dev/failure.ts';
import { type Command, commands } from './commands.ts';
import { openSuite } from './running-suite.ts';

const help = `npm run -s ops -- <command> [--json]

${commands.map(({ usage }) => `  ${usage}`).join('\n')}

ORDER and SKU are the Store API's ids (ord_…, prod_…); a creator or a release is named by its UUID or its id.
Commands about orders and products publish the messages a warehouse would, and return when they have been applied.`;

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const command = commands.find(({ words }) => words.every((word, index) => args[index] === word));
  if (command === undefined || args.includes('--help')) {
    if (args.length === 0 || args.includes('--help')) return console.log(help);
    throw new Failure(
      `There is no command "${args
        .filter((arg) => !arg.startsWith('-'))
        .slice(0, 2)
        .join(' ')}".\n\n${help}`,
    );
  }
  const { json, given } = readArguments(command, args.slice(command.words.length));
  const result = await command.run(await openSuite(), given);
  console.log(json ? JSON.stringify(result) : readable(result));
}

/** Every argument the command asks for, by name. @throws Failure with the usage */
function readArguments(
  command: Command,
  args: readonly string[],
): { json: boolean; given: Record<string, unknown> } {
  const options: ParseArgsConfig['options'] = { json: { type: 'boolean', default: false }, ...command.flags };
  const parsed = tryParse(args, options, command);
  const { json, ...flags }: Record<string, unknown> = { ...parsed.values };
  if (parsed.positionals.length !== command.positionals.length)
    throw new Failure(`Usage: npm run -s ops -- ${command.usage}`);
  const named = Object.fromEntries(
    command.positionals.map((name, index) => [name, parsed.positionals[index]]),
  );
  const given = { ...flags, ...named };
  const result = command.arguments.safeParse(given);
  if (result.success) return { json: json === true, given }; // as typed: the command reads them itself
  const problems = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  throw new Failure(`${problems}\nUsage: npm run -s ops -- ${command.usage}`);
}

function tryParse(args: readonly string[], options: ParseArgsConfig['options'], command: Command) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new Failure(`${reasonOf(error)}\nUsage: npm run -s ops -- ${command.usage}`);
  }
}

function readable(result: Readonly<Record<string, unknown>>): string {
  return Object.entries(result)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}

main().catch((error: unknown) => {
  console.error(error instanceof z.ZodError ? z.prettifyError(error) : reasonOf(error));
  process.exit(1);
});
