import { hasLoopbackHost } from '@fulfilment/runtime';
import { AsyncLocalStorage } from 'node:async_hooks';
import { userInfo } from 'node:os';
import { UsageError } from './command-line.js';

type Environment = Readonly<Record<string, string | undefined>>;

const current = new AsyncLocalStorage<string>();

/** Runs a command as an operator. */
export function runAsOperator<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  return current.run(name, work);
}

/** The operator of the current command; undefined outside of a command. */
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
  const at = args.findIndex((arg) => arg === '--as' || arg.startsWith('--as='));
  const inline = at !== -1 && args[at] !== '--as';
  const option = inline ? args[at]?.slice('--as='.length) : args[at + 1];
  const rest = at === -1 ? args : args.toSpliced(at, inline ? 1 : 2);
  const operator = at === -1 ? environment['OPERATOR'] || accountName(environment) : option;
  if (operator === undefined)
    throw new UsageError(
      'The operator name is missing. Use --as NAME or the environment variable OPERATOR; every command is recorded with this name.',
    );
  if (!/^[^\p{C}]{1,100}$/u.test(operator) || operator.startsWith('--'))
    throw new UsageError('--as must be a name of 1 to 100 printable characters.');
  return { operator, rest };
}

function accountName({ BASE_URL: baseUrl }: Environment): string | undefined {
  if (baseUrl === undefined || !URL.canParse(baseUrl) || !hasLoopbackHost(baseUrl)) return undefined;
  try {
    return userInfo().username;
  } catch {
    return 'developer'; // the account has no name
  }
}
