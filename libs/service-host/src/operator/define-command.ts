import { z } from 'zod';

/** An operator command of a service. */
export interface Command<Context> {
  /** The effect, in one sentence without a subject. */
  readonly summary: string;
  /** Names of the positional arguments, in order: `FILE`. */
  readonly operands: readonly string[];
  /** Options as for commander: `--name <NAME>`, `--confidential`, repeatable `--redirect-uri <URI...>`. */
  readonly options: readonly string[];
  /** Operands and options without which every command line is invalid. */
  readonly required: ReadonlySet<string>;
  /**
   * Validates the arguments. Returns the function that runs the command and returns its output.
   * @throws z.ZodError
   */
  prepare(args: Readonly<Record<string, unknown>>): (context: Context) => Promise<object>;
}

/** Defines a command with typed arguments. A schema's message, such as `is missing`, follows the name. */
export function defineCommand<Context, Arguments extends z.ZodType>(command: {
  readonly summary: string;
  readonly operands?: readonly string[];
  readonly options?: readonly string[];
  readonly arguments: Arguments;
  readonly run: (context: Context, args: z.output<Arguments>) => Promise<object>;
}): Command<Context> {
  const { summary, operands = [], options = [], arguments: schema } = command;
  // A custom issue may depend on other arguments: `is required without --x`.
  const issues = (schema.safeParse({}).error?.issues ?? []).filter(({ code }) => code !== 'custom');
  return {
    summary,
    operands,
    options,
    required: new Set(issues.map(({ path }) => String(path[0]))),
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
