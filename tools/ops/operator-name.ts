import { userInfo } from 'node:os';

/** Takes `--as NAME` out of a command line and into the environment, for all that the command starts. */
export function takeOperatorName(args: readonly string[]): readonly string[] {
  const at = args.findIndex((arg) => arg === '--as' || arg.startsWith('--as='));
  if (at === -1) return args;
  const isInline = args[at] !== '--as';
  process.env.OPERATOR = (isInline ? args[at]?.slice('--as='.length) : args[at + 1]) ?? '';
  return args.toSpliced(at, isInline ? 1 : 2);
}

/** Who runs this command: the suite is on this computer, so the account of the operating system will do. */
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
