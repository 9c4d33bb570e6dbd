import { AccountsAndTokens } from './0001-accounts-and-tokens.js';
import { AccountSecurity } from './0002-account-security.js';
import { AuditIndexes } from './0003-audit-indexes.js';

export const migrations = [AccountsAndTokens, AccountSecurity, AuditIndexes] as const;
