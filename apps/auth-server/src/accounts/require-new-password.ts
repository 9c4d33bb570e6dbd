import { commonPasswords } from './common-passwords.js';
import { newPasswordProblem } from './new-password.rules.js';

/** For operator commands. @throws Error with the problem, without the password */
export async function requireNewPassword(password: string, email: string): Promise<void> {
  const problem = newPasswordProblem(password, email, await commonPasswords());
  if (problem !== undefined) throw new Error(`--password ${problem}.`);
}
