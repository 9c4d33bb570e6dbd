import { AccountsAndTokens } from './0001-accounts-and-tokens.js';
import { AccountSecurity } from './0002-account-security.js';
import { AuditIndexes } from './0003-audit-indexes.js';
import { PaymentMethods } from './0004-payment-methods.js';
import { ConsentsOfCreators } from './0005-consents-of-creators.js';
import { GuessCounts } from './0006-guess-counts.js';
import { UnverifiedEmails } from './0007-unverified-emails.js';
import { RedactedUsers } from './0008-redacted-users.js';
import { AuditByMonth } from './0009-audit-by-month.js';
import { ResourceServers } from './0010-resource-servers.js';
import { VerifiedClients } from './0011-verified-clients.js';
import { OperatorAudit } from './0012-operator-audit.js';

export const migrations = [
  AccountsAndTokens,
  AccountSecurity,
  AuditIndexes,
  PaymentMethods,
  ConsentsOfCreators,
  GuessCounts,
  UnverifiedEmails,
  RedactedUsers,
  AuditByMonth,
  ResourceServers,
  VerifiedClients,
  OperatorAudit,
] as const;
