import type { ParseArgsConfig } from 'node:util';
import type { z } from 'zod';
import type { RunningSuite } from './running-suite.ts';

/** A command of `npm run ops`. */
export interface Command {
  /** Its words in the command line: `order ship`. */
  readonly words: readonly [string, ...string[]];
  readonly usage: string;
  readonly positionals: readonly string[];
  readonly flags: NonNullable<ParseArgsConfig['options']>;
  /** Schema of all positionals and flags. */
  readonly arguments: z.ZodType<Record<string, unknown>>;
  /** Formats the result for a person; by default a line per member. */
  readonly readable?: (result: Readonly<Record<string, unknown>>) => string;
  readonly run: (suite: RunningSuite, given: Record<string, unknown>) => Promise<Record<string, unknown>>;
}

/** A flag with a value, and a flag without. */
export const word = { type: 'string' } as const;
export const alone = { type: 'boolean' } as const;

/** Combines the schema of the arguments with the function, whose parameters get its types. */
export function command<Arguments extends z.ZodType<Record<string, unknown>>>(
  words: Command['words'],
  rest: {
    readonly usage: string;
    readonly positionals?: readonly string[];
    readonly flags?: Command['flags'];
    readonly arguments: Arguments;
    readonly run: (suite: RunningSuite, given: z.output<Arguments>) => Promise<Record<string, unknown>>;
  },
): Command {
  return {
    words,
    usage: `${words.join(' ')} ${rest.usage}`.trim(),
    positionals: rest.positionals ?? [],
    flags: rest.flags ?? {},
    arguments: rest.arguments,
    run: (suite, given) => rest.run(suite, rest.arguments.parse(given)),
  };
}
