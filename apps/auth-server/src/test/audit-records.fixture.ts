import type { RunningServer } from './running-server.fixture.js';
import { testStatement } from './test-statement.fixture.js';

/** Filters of audit records; an omitted one matches everything. */
interface RecordFilter {
  readonly email?: string;
  readonly clientId?: string;
  readonly event?: string;
}

interface StoredAuditRecord {
  readonly event: string;
  readonly email: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Reads audit records, the oldest first. */
export function auditRecords(
  { database }: Pick<RunningServer, 'database'>,
  { email, clientId, event }: RecordFilter,
): Promise<StoredAuditRecord[]> {
  return database.rows<StoredAuditRecord>(
    testStatement(`SELECT log.event, users.email, log.details
      FROM audit_log AS log LEFT JOIN users ON users.id = log.user_id
      WHERE ($1::text IS NULL OR users.email = $1) AND ($2::text IS NULL OR log.client_id = $2)
        AND ($3::text IS NULL OR log.event = $3)
      ORDER BY log.position`),
    [email, clientId, event],
  );
}

export async function auditEventsOf(
  server: Pick<RunningServer, 'database'>,
  filter: RecordFilter,
): Promise<string[]> {
  return (await auditRecords(server, filter)).map(({ event }) => event);
}
