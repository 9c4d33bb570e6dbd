import { commonPasswords } from './common-passwords.js';
import { newPasswordProblem } from './new-password.rules.js';

/**
 * Rejects a new password that breaks the password rules, for operator commands.
 * @throws Error with the problem, without the password
 */
export async function assertAcceptablePassword(password: string, email: string): Promise<void> {
  const problem = newPasswordProblem(password, email, await commonPasswords());
  if (problem !== undefined) throw new Error(`--password ${problem}.`);
}
