import { type Database, type Sql, statement } from '@fulfilment/database';
import type { AuditEntry, Origin } from './audit-log.js';
import { recordsWritten } from './audit-metrics.js';

const batchSize = 1000;

// The counted records are in the columns locked_* of guess_counts. Most of them are about guesses during a
// lockout, and their subjects already have rows there (sign-in/throttling/guess-counts.ts).
const upsertCount = statement(
  'counted-records.count',
  `INSERT INTO guess_counts AS counted (subject, locked_attempts, locked_record, locked_from, locked_until)
   VALUES ($1, 1, $2, now(), now() + $3 * interval '1 second')
   ON CONFLICT (subject) DO UPDATE SET
     locked_attempts = counted.locked_attempts + 1, locked_record = excluded.locked_record,
     locked_from = CASE WHEN counted.locked_attempts = 0 THEN excluded.locked_from ELSE counted.locked_from END,
     locked_until = CASE WHEN counted.locked_attempts = 0 THEN excluded.locked_until ELSE counted.locked_until END`,
);
// One statement, so that an event is either still counted or in the audit log. A crash of PostgreSQL
// loses the counts, because their table is UNLOGGED (ADR 29). It uses the order of the index
// `guess_counts_locked`: in another order, PostgreSQL may read all counts.
export const moveEndedToAuditLog = statement(
  'counted-records.write',
  `WITH ended AS (
     SELECT subject, locked_attempts, locked_from, locked_record FROM guess_counts
     WHERE locked_attempts > 0 AND locked_until <= now()
     ORDER BY locked_until LIMIT ${batchSize} FOR UPDATE SKIP LOCKED),
   reset AS (
     UPDATE guess_counts SET locked_attempts = 0, locked_record = NULL FROM ended WHERE guess_counts.subject = ended.subject)
   INSERT INTO audit_log (event, user_id, client_id, ip, user_agent, details)
   SELECT locked_record ->> 'event', (locked_record ->> 'userId')::uuid, locked_record ->> 'clientId',
     locked_record ->> 'ip', locked_record ->> 'userAgent',
     (locked_record -> 'details') || jsonb_build_object('count', locked_attempts, 'since', locked_from)
   FROM ended RETURNING event`,
);

/** One of many events that are audited as one record per subject and window. */
export interface RepeatableEvent {
  readonly subject: string;
  readonly origin: Origin;
  readonly entry: AuditEntry;
  readonly windowSeconds: number;
}

/** Counts an event for the record of its window. The record has the origin and details of the last event. */
export async function countEvent(
  sql: Sql,
  { subject, origin, entry, windowSeconds }: RepeatableEvent,
): Promise<void> {
  const { event, userId, clientId, details = {} } = entry;
  const record = { event, userId, clientId, ip: origin.ip, userAgent: origin.userAgent, details };
  await sql.run(upsertCount, [subject, JSON.stringify(record), windowSeconds]);
}

/** Writes the records of ended windows, with `count` and `since`. Returns whether there may be more. */
export async function writeCountedRecords(database: Database): Promise<boolean> {
  const written = await database.rows<Pick<AuditEntry, 'event'>>(moveEndedToAuditLog);
  for (const { event } of written) recordsWritten.inc({ event });
  return written.length === batchSize;
}
