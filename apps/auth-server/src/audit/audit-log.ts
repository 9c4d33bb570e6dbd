import { type Database, type Sql, statement } from '@fulfilment/database';
import type { Logger } from '@fulfilment/runtime';
import type { IncomingHttpHeaders } from 'node:http';

/** What is written down. */
export const auditEvents = [
  'signed_in',
  'sign_in_failed',
  'sign_in_locked',
  'second_factor_failed',
  'second_factor_added',
  'second_factor_removed',
  'recovery_codes_made',
  'password_change_failed',
  'browser_signed_out',
  'app_disconnected',
  'consent_given',
  'consent_refused',
  'signed_out',
  'client_registered',
  'client_changed',
  'client_secret_changed',
  'client_deleted',
  'code_issued',
  'token_issued',
  'token_revoked',
  'token_race_lost',
  'token_family_ended',
  'organisation_created',
  'user_created',
  'user_disabled',
  'user_enabled',
  'user_role_changed',
  'password_changed',
  'creator_registered',
  'creator_changed',
  'keys_rotated',
] as const;
export type AuditEvent = (typeof auditEvents)[number];

/** From where a request came. */
export interface Origin {
  readonly ip: string;
  readonly userAgent: string | undefined;
}

export interface AuditEntry {
  readonly event: AuditEvent;
  readonly userId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>>;
}

const maxUserAgentLength = 300;

const insert = statement(
  'audit.insert',
  `INSERT INTO audit_log (event, user_id, client_id, ip, user_agent, details) VALUES ($1, $2, $3, $4, $5, $6)`,
);

/** The append-only record of who did what. A record that cannot be written is logged; it never stops what it records. */
export class AuditLog {
  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
  ) {}

  async write(origin: Origin, entry: AuditEntry): Promise<void> {
    try {
      await insertAudit(this.database, entry, origin);
    } catch (error) {
      this.logger.error({ error, event: entry.event }, 'An audit record could not be written.');
    }
  }
}

/** Writes a record together with what it records. Without an origin nobody's request did it: the operator, or the schedule. */
export async function insertAudit(sql: Sql, entry: AuditEntry, origin?: Origin): Promise<void> {
  await sql.run(insert, [
    entry.event,
    entry.userId ?? null,
    entry.clientId ?? null,
    origin?.ip ?? null,
    origin?.userAgent ?? null,
    JSON.stringify(entry.details ?? {}),
  ]);
}

export function originOf(request: {
  readonly ip?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}): Origin {
  return {
    ip: request.ip ?? 'unknown',
    userAgent: request.headers['user-agent']?.slice(0, maxUserAgentLength),
  };
}
