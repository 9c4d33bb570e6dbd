import { z } from 'zod';

/** An operator command of a service. */
export interface Command<Context> {
  /** The effect, in one sentence without a subject. */
  readonly summary: string;
  /** Names of the positional arguments, in order: `FILE`. */
  readonly operands: readonly string[];
  /** Options as for commander: `--name <NAME>`, `--confidential`, repeatable `--redirect-uri <URI...>`. */
  readonly options: readonly string[];
  /** Operands and options that the schema requires; those that depend on others are not included. */
  readonly required: ReadonlySet<string>;
  /**
   * Validates the arguments before any connection is opened. Returns the function that returns the output.
   * @throws z.ZodError
   */
  prepare(args: Readonly<Record<string, unknown>>): (context: Context) => Promise<object>;
}

/** Defines a command with typed arguments. Messages of its schema continue the name of the argument. */
export function defineCommand<Context, Arguments extends z.ZodType>(command: {
  readonly summary: string;
  readonly operands?: readonly string[];
  readonly options?: readonly string[];
  readonly arguments: Arguments;
  readonly run: (context: Context, args: z.output<Arguments>) => Promise<object>;
}): Command<Context> {
  const { summary, operands = [], options = [], arguments: schema } = command;
  const issues = schema.safeParse({}).error?.issues ?? [];
  return {
    summary,
    operands,
    options,
    required: new Set(issues.filter(({ code }) => code !== 'custom').map(({ path }) => String(path[0]))),
    prepare: (args) => {
      const checked = schema.parse(args);
      return (context) => command.run(context, checked);
    },
  };
}

/** Commands by their words: `user create`. */
export type Commands<Context> = Readonly<Record<string, Command<Context>>>;

/** A required text argument. */
export function textArgument(maxLength = 255) {
  return z.string('is missing').trim().max(maxLength, `must be at most ${maxLength} characters long`);
}

const maxPageSize = 1000;

/** `--limit` of a list: the maximum number of rows. */
export function limitArgument(defaultLimit = 100) {
  const limits = `must be a whole number from 1 to ${maxPageSize}`;
  return z.coerce.number(limits).int(limits).min(1, limits).max(maxPageSize, limits).default(defaultLimit);
}
