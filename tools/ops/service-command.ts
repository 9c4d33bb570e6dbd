import { resolve } from 'node:path';
import { z } from 'zod';
import { waitUntilApplied } from './applied.ts';
import type { Command } from './command.ts';
import { operate, ownInput } from './operate.ts';

/** A positional or a flag, which may have no value or be repeated. */
const argument = z.union([z.string(), z.boolean(), z.array(z.string())]).optional();
type Argument = z.infer<typeof argument>;

/** Services that must have received a creator before it can be used. */
const creatorReaders = ['store-api', 'creator-api'];

/** A command that a service's program runs on its database with unchanged arguments. */
export function serviceCommand(
  service: string,
  words: Command['words'],
  rest: Pick<Command, 'usage' | 'arguments' | 'readable'> & Partial<Pick<Command, 'flags' | 'positionals'>>,
): Command {
  const { positionals = [], flags = {} } = rest;
  return {
    words,
    usage: `${words.join(' ')} ${rest.usage}`.trim(),
    positionals,
    flags,
    arguments: rest.arguments,
    ...(rest.readable === undefined ? {} : { readable: rest.readable }),
    run: async (suite, all) => {
      const { password, ...given } = z.record(z.string(), argument).parse(all);
      const args = [...words, ...asArguments(given, positionals), '--json'];
      const { message_id: messageId, ...result } =
        password === undefined
          ? await operate(suite, service, args)
          : // Never in a command line.
            await operate(suite, service, [...args, '--password', '-'], toInput(password));
      if (typeof messageId === 'string') {
        await Promise.all(creatorReaders.map((service) => waitUntilApplied(suite, service, messageId)));
      }
      return result;
    },
  };
}

/** For `-` the service's program reads the password itself. */
function toInput(password: Argument): string | typeof ownInput {
  return password === '-' ? ownInput : String(password);
}

function asArguments(given: Readonly<Record<string, Argument>>, positionals: readonly string[]): string[] {
  const flags = Object.entries(given).filter(([name]) => !positionals.includes(name));
  return [
    ...positionals
      .filter((name) => given[name] !== undefined)
      .map((name) => operand(name, String(given[name]))),
    ...flags.flatMap(([name, value]) =>
      value === true ? [`--${name}`] : [value ?? []].flat().flatMap((one) => [`--${name}`, String(one)]),
    ),
  ];
}

/** npm runs scripts in the repository's root, so resolve a path from the user's working directory. */
function operand(name: string, value: string): string {
  return name === 'FILE' && value !== '-' ? resolve(process.env.INIT_CWD ?? process.cwd(), value) : value;
}
