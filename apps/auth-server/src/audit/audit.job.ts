import type { Database } from '@fulfilment/database';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import type { AuthServerSettings } from '../config.js';
import { maintainAuditPartitions } from './audit-partitions.js';
import { writeCountedRecords } from './counted-records.js';

const intervalMs = 60_000;

/** Writes counted audit records. Any number of replicas may run it. */
export function countedRecordsJob(database: Database, logger: Logger): BackgroundLoop {
  return new BackgroundLoop({
    name: 'counted-records',
    intervalMs,
    logger,
    round: () => writeCountedRecords(database),
  });
}

/** Creates and drops the partitions of the audit log. Any number of replicas may run it. */
export function auditPartitionsJob(
  database: Database,
  { AUDIT_RETENTION_DAYS: retentionDays }: Pick<AuthServerSettings, 'AUDIT_RETENTION_DAYS'>,
  logger: Logger,
): BackgroundLoop {
  return new BackgroundLoop({
    name: 'audit-partitions',
    intervalMs,
    logger,
    round: () => maintainAuditPartitions(database, retentionDays),
  });
}
