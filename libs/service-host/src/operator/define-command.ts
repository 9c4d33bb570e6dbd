import type { z } from 'zod';

/** An option with a value, one that may be repeated, or one without a value. */
export type FlagKind = 'text' | 'texts' | 'alone';

/** An operator command of a service. */
export interface Command<Context> {
  /** Names of the positional arguments, in order: `FILE`. */
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, FlagKind>>;
  /**
   * Validates the arguments before any connection is opened. Returns the command's function, which returns
   * the output.
   * @throws z.ZodError
   */
  prepare(given: Readonly<Record<string, unknown>>): (context: Context) => Promise<object>;
}

/** Defines a command with typed arguments. Messages of its schema continue the name of the argument. */
export function defineCommand<Context, Arguments extends z.ZodType>(command: {
  readonly operands?: readonly string[];
  readonly flags?: Readonly<Record<string, FlagKind>>;
  readonly arguments: Arguments;
  readonly run: (context: Context, given: z.output<Arguments>) => Promise<object>;
}): Command<Context> {
  return {
    operands: command.operands ?? [],
    flags: command.flags ?? {},
    prepare: (given) => {
      const checked = command.arguments.parse(given);
      return (context) => command.run(context, checked);
    },
  };
}

/** Commands by their words: `user create`. */
export type Commands<Context> = Readonly<Record<string, Command<Context>>>;
