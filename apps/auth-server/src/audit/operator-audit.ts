import type { Sql } from '@fulfilment/database';
import { currentOperator } from '@fulfilment/service-host/operator';
import { type AuditEntry, insertAudit } from './audit-log.js';

/** Records what an operator did, in the transaction that does it. There is no address: it came by no request. */
export function auditOperator(sql: Sql, entry: AuditEntry): Promise<void> {
  const operator = currentOperator();
  const who = operator === undefined ? { actor: 'operator' } : { actor: 'operator', operator };
  return insertAudit(sql, { ...entry, details: { ...who, ...entry.details } });
}
