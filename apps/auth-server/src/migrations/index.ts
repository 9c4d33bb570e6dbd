import { AccountsAndTokens } from './0001-accounts-and-tokens.js';
import { AuditIndexes } from './0004-audit-indexes.js';

export const migrations = [AccountsAndTokens, AuditIndexes] as const;
