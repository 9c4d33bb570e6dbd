import type { ParseArgsConfig } from 'node:util';
import type { z } from 'zod';
import type { RunningSuite } from './running-suite.ts';

/** What `npm run ops` can do. */
export interface Command {
  /** What calls it: `order ship`. */
  readonly words: readonly [string, ...string[]];
  readonly usage: string;
  readonly positionals: readonly string[];
  readonly flags: NonNullable<ParseArgsConfig['options']>;
  /** What the positionals and flags must be together. */
  readonly arguments: z.ZodType<Record<string, unknown>>;
  /** How a person reads the result; by default a line for each of its members. */
  readonly readable?: (result: Readonly<Record<string, unknown>>) => string;
  readonly run: (suite: RunningSuite, given: Record<string, unknown>) => Promise<Record<string, unknown>>;
}

/** A flag with a value, and one that stands alone. */
export const word = { type: 'string' } as const;
export const alone = { type: 'boolean' } as const;

/** Pairs the shape of the arguments with the work, so that the work sees them typed. */
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
