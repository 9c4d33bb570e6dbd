import { commonPasswords } from './common-passwords.js';
import { newPasswordProblem } from './new-password.rules.js';

/** For the operator's commands. @throws Error that says what is wrong with the password, without the password */
export async function requireNewPassword(password: string, email: string): Promise<void> {
  const problem = newPasswordProblem(password, email, await commonPasswords());
  if (problem !== undefined) throw new Error(`--password ${problem}.`);
}
