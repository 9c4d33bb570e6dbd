import type { Sql } from '@fulfilment/database';
import { currentOperator } from '@fulfilment/service-host/operator';
import { type AuditEntry, insertAudit } from './audit-log.js';

/**
 * Audits an operator's action in its transaction. There is no request, so the record has no origin. Outside
 * of a command, such as in a test, it has no operator either.
 */
export function auditOperator(sql: Sql, entry: AuditEntry): Promise<void> {
  const details = { actor: 'operator', operator: currentOperator(), ...entry.details };
  return insertAudit(sql, { ...entry, details });
}
