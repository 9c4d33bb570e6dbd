import type { OperatorContext } from './operator-context.js';

const fromInput = '-';

/**
 * Returns the value of `--password` or, for `-`, the password from a prompt or standard input.
 * @throws Error for a password on the command line, unless AUTH_URL has a loopback host
 */
export async function readPassword(
  { readSecret, hasLoopbackUrl }: Pick<OperatorContext, 'readSecret' | 'hasLoopbackUrl'>,
  typed: string,
): Promise<string> {
  if (typed === fromInput) return readSecret();
  if (hasLoopbackUrl) return typed;
  throw new Error(
    '--password must be "-"; the password is read from a prompt or from standard input. Other users can see passwords in command lines.',
  );
}
