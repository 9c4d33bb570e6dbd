import { userInfo } from 'node:os';

/** Moves `--as NAME` from the command line to the environment of all programs that the command starts. */
export function takeOperatorName(args: readonly string[]): readonly string[] {
  const at = args.findIndex((arg) => arg === '--as' || arg.startsWith('--as='));
  if (at === -1) return args;
  const isInline = args[at] !== '--as';
  process.env.OPERATOR = (isInline ? args[at]?.slice('--as='.length) : args[at + 1]) ?? '';
  return args.toSpliced(at, isInline ? 1 : 2);
}

/** Name of the operator: the account of the operating system, since the suite runs on this machine. */
export function operatorName(): string {
  return (process.env.OPERATOR || accountName()).slice(0, 100);
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'developer'; // an account without a name
  }
}
