import type { z } from 'zod';

/** A flag with a value, one that may come several times, or one that stands alone. */
export type FlagKind = 'text' | 'texts' | 'alone';

/** One thing an operator may have done to a service's data. */
export interface OperatorCommand<Context> {
  /** The names of the words behind the command, in order: `FILE`. */
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, FlagKind>>;
  /**
   * Checks what was given, by operand and flag as typed, before anything is opened; answers the work, which answers what is printed.
   * @throws z.ZodError
   */
  prepare(given: Readonly<Record<string, unknown>>): (context: Context) => Promise<object>;
}

/** Pairs the shape of the arguments with the work, so that the work sees them typed. Complaints read on after the argument's name. */
export function operatorCommand<Context, Arguments extends z.ZodType>(command: {
  readonly operands?: readonly string[];
  readonly flags?: Readonly<Record<string, FlagKind>>;
  readonly arguments: Arguments;
  readonly run: (context: Context, given: z.output<Arguments>) => Promise<object>;
}): OperatorCommand<Context> {
  return {
    operands: command.operands ?? [],
    flags: command.flags ?? {},
    prepare: (given) => {
      const checked = command.arguments.parse(given);
      return (context) => command.run(context, checked);
    },
  };
}

/** By the words that call them: `user create`. */
export type OperatorCommands<Context> = Readonly<Record<string, OperatorCommand<Context>>>;
