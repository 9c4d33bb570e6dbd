import type { Sql } from '@fulfilment/database';
import { type AuditEntry, insertAudit } from './audit-log.js';

/** Writes down what the operator did, in the transaction that does it. There is no address: it came by no request. */
export function auditOperator(sql: Sql, entry: AuditEntry): Promise<void> {
  return insertAudit(sql, { ...entry, details: { actor: 'operator', ...entry.details } });
}
