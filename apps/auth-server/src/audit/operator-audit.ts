import type { Sql } from '@fulfilment/database';
import { currentOperator } from '@fulfilment/service-host/operator';
import { type AuditEntry, insertAudit } from './audit-log.js';

/**
 * Audits an operator's action in its transaction. It has no origin, since there is no request. Every command
 * has an operator (`runServiceCli`); only code outside of a command has none, such as a test.
 */
export function auditOperator(sql: Sql, entry: AuditEntry): Promise<void> {
  const details = { actor: 'operator', operator: currentOperator(), ...entry.details };
  return insertAudit(sql, { ...entry, details });
}
