import { hasLoopbackHost } from '@fulfilment/runtime';
import { AsyncLocalStorage } from 'node:async_hooks';
import { userInfo } from 'node:os';
import { UsageError } from './command-line.js';

export const maxOperatorNameLength = 100;
const printableName = new RegExp(`^(?=.*\\S)[^\\p{C}]{1,${maxOperatorNameLength}}$`, 'u');

type Environment = Readonly<Record<string, string | undefined>>;

const current = new AsyncLocalStorage<string>();

/** Runs a command as an operator. */
export function runAsOperator<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  return current.run(name, work);
}

/** Returns the operator of the current command; undefined outside of a command. */
export function currentOperator(): string | undefined {
  return current.getStore();
}

/**
 * Returns the operator (`--as NAME`, or the environment variable OPERATOR) and the other arguments. If the
 * suite is on this computer (BASE_URL), the operating system's account is the default.
 * @throws UsageError
 */
export function readOperatorName(
  args: readonly string[],
  environment: Environment,
): { readonly operator: string; readonly rest: readonly string[] } {
  const { option, rest } = takeOption(args);
  const operator = option ?? (environment['OPERATOR'] || accountName(environment));
  if (operator === undefined)
    throw new UsageError(
      'The operator name is missing. Use --as NAME or the environment variable OPERATOR; every command is recorded with this name.',
    );
  if (!printableName.test(operator) || operator.startsWith('--'))
    throw new UsageError(
      `The operator name (--as or OPERATOR) must have 1 to ${maxOperatorNameLength} printable characters, not only spaces, and must not begin with "--".`,
    );
  return { operator, rest };
}

function takeOption(args: readonly string[]): { option?: string; rest: readonly string[] } {
  const index = args.findIndex((arg) => arg === '--as' || arg.startsWith('--as='));
  const arg = args[index];
  if (arg === undefined) return { rest: args };
  if (arg === '--as') return { option: args[index + 1] ?? '', rest: args.toSpliced(index, 2) };
  return { option: arg.slice('--as='.length), rest: args.toSpliced(index, 1) };
}

function accountName({ BASE_URL: baseUrl }: Environment): string | undefined {
  if (baseUrl === undefined || !URL.canParse(baseUrl) || !hasLoopbackHost(baseUrl)) return undefined;
  try {
    return userInfo().username;
  } catch {
    return 'developer'; // the account has no name
  }
}
