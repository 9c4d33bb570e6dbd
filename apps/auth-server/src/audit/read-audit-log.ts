import { isUuid } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { findUser } from '../users/find-user.js';
import type { AuditEvent } from './audit-log.js';

/** Filters; an omitted one matches everything. */
interface AuditQuery {
  readonly event?: AuditEvent | undefined;
  /** UUID of a user, who may be redacted, or the current e-mail address. */
  readonly user?: string | undefined;
  readonly client?: string | undefined;
  /** Inclusive. */
  readonly since?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
  /** Selects records older than this one. */
  readonly before?: AuditPosition | undefined;
  /** 1 to 1000. */
  readonly limit: number;
}

/** `<time in microseconds since 1970>.<column position>`; the latter orders records of the same time. */
type AuditPosition = string;

export interface AuditRecord {
  readonly at: Date;
  readonly event: string;
  readonly user_id: string | null;
  readonly email: string | null;
  readonly client_id: string | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

interface AuditPage {
  /** The records, the newest last. */
  readonly events: readonly AuditRecord[];
  /** Pass it as `before` of the next query to read older records; null when there are none. */
  readonly before: AuditPosition | null;
}

interface Row extends AuditRecord {
  readonly page_position: AuditPosition;
}

// One statement for all combinations. Only operator commands run it, once each. Their connections do not
// force a generic plan (`workload` of `SessionOptions` in libs/database): PostgreSQL plans it with the actual
// values, so null filters are removed and each other filter uses its index.
export const selectAuditRecords = statement(
  'audit.read',
  `SELECT log.at, log.event, log.user_id, users.email, log.client_id, log.ip, log.user_agent, log.details,
     (extract(epoch FROM log.at) * 1000000)::bigint || '.' || log.position AS page_position
   FROM audit_log AS log LEFT JOIN users ON users.id = log.user_id
   WHERE (:event::text IS NULL OR log.event = :event)
     AND (:user::uuid IS NULL OR log.user_id = :user)
     AND (:client::text IS NULL OR log.client_id = :client)
     AND (:since::timestamptz IS NULL OR log.at >= :since)
     AND (:until::timestamptz IS NULL OR log.at < :until)
     AND (:before_micros::bigint IS NULL OR
       (log.at, log.position) < (timestamptz 'epoch' + :before_micros * interval '1 microsecond', :before_position::bigint))
   ORDER BY log.at DESC, log.position DESC LIMIT :max_rows`,
);

/**
 * Reads one page of the log, from its end or from `query.before` backwards.
 * @throws Error for an unknown e-mail address
 */
export async function readAuditLog(database: Database, query: AuditQuery): Promise<AuditPage> {
  const { event, client, since, until } = query;
  const [beforeMicros, beforePosition] = query.before?.split('.') ?? [];
  const rows = await database.rows<Row>(selectAuditRecords, {
    event,
    client,
    since,
    until,
    user: query.user === undefined ? undefined : await findUserId(database, query.user),
    before_micros: beforeMicros,
    before_position: beforePosition,
    max_rows: query.limit + 1,
  });
  const page = rows.slice(0, query.limit);
  const before = rows.length > query.limit ? (page.at(-1)?.page_position ?? null) : null;
  return { events: page.reverse().map(({ page_position: _position, ...record }) => record), before };
}

/** Returns a UUID without a check whether the user exists. */
async function findUserId(database: Database, user: string): Promise<string> {
  const id = user.trim().toLowerCase();
  return isUuid(id) ? id : (await findUser(database, user)).id;
}
