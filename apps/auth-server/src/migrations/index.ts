import { AccountsAndTokens } from './0001-accounts-and-tokens.js';
import { AccountSecurity } from './0002-account-security.js';

export const migrations = [AccountsAndTokens, AccountSecurity] as const;
