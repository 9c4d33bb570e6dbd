import { AccountsAndTokens } from './0001-accounts-and-tokens.js';

export const migrations = [AccountsAndTokens] as const;
