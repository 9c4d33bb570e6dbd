import { Injectable } from '@nestjs/common';
import type { Origin } from '../audit/audit-log.js';
import type { Notice } from '../pages/account.page.js';
import { SignInThrottle, waitInWords } from '../sign-in/sign-in-throttle.js';
import { verifyPassword } from './passwords.js';
import { type Person, ReadAccounts } from './read-accounts.js';

/** Asks for the password again before what an open browser alone must not be enough for. Guesses count like failed sign-ins. */
@Injectable()
export class ConfirmPassword {
  constructor(
    private readonly accounts: ReadAccounts,
    private readonly throttle: SignInThrottle,
  ) {}

  /** What to tell when it is not right; undefined when it is. */
  async refusal({ email }: Person, password: string, { ip }: Origin): Promise<Notice | undefined> {
    const guess = await this.throttle.guess(email, ip, async () => {
      const stored = await this.accounts.credentials(email);
      return (await verifyPassword(password, stored?.password_hash)) ? stored : undefined;
    });
    if (guess.kind === 'right') return undefined;
    if (guess.kind === 'wrong')
      return { kind: 'problem', status: 401, text: 'The current password is not right.' };
    const { waitSeconds } = guess;
    const text = `Too many passwords were wrong. ${waitInWords(waitSeconds)}`;
    return { kind: 'problem', status: 429, text, retryAfterSeconds: waitSeconds };
  }
}
