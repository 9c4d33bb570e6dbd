import type { OperatorContext } from './operator-context.js';

/** In place of a password: it is read from a prompt or from standard input. */
const fromInput = '-';

/** The password that `--password` means. @throws Error for one in the command line outside development */
export function givenPassword(
  { readSecret, development }: Pick<OperatorContext, 'readSecret' | 'development'>,
  typed: string,
): Promise<string> {
  if (typed === fromInput) return readSecret();
  if (development) return Promise.resolve(typed);
  throw new Error(
    '--password must be "-": the password is then read from a prompt or from standard input. A password in a command line is visible to others.',
  );
}
