import { Inject, Injectable } from '@nestjs/common';
import { Database, type Sql, statement } from '@fulfilment/database';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import type { IncomingHttpHeaders } from 'node:http';
import { recordsLost, recordsWritten } from './audit-metrics.js';
import { type RepeatableEvent, countEvent } from './counted-records.js';

/** The events of the audit log. */
export const auditEvents = [
  'signed_in',
  'sign_in_failed',
  'sign_in_locked',
  'sign_in_cancelled',
  'second_factor_failed',
  'second_factor_locked',
  'second_factor_added',
  'second_factor_removed',
  'recovery_codes_made',
  'password_change_failed',
  'password_confirmation_failed',
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
  'client_authentication_failed',
  'introspection_rejected',
  'token_revoked',
  'token_race_lost',
  'token_reused',
  'token_family_ended',
  'organisation_created',
  'user_created',
  'user_disabled',
  'user_enabled',
  'user_redacted',
  'user_role_changed',
  'password_changed',
  'name_changed',
  'creator_registered',
  'creator_changed',
  'keys_rotated',
  'signing_key_removed',
  'secrets_resealed',
] as const;
export type AuditEvent = (typeof auditEvents)[number];

// Each event's count of lost records starts at 0, so that the alert sees the first one as an increase.
for (const event of auditEvents) recordsLost.inc({ event }, 0);

/** IP address and user agent of a request. */
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

/** Longer user agents are truncated: anyone can send them, and they are stored. */
const maxUserAgentLength = 300;

const insert = statement(
  'audit.insert',
  `INSERT INTO audit_log (event, user_id, client_id, ip, user_agent, details) VALUES ($1, $2, $3, $4, $5, $6)`,
);

/** The append-only record of who did what. */
@Injectable()
export class AuditLog {
  constructor(
    private readonly database: Database,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Writes outside a transaction. Never throws: a record that cannot be written is counted and logged. */
  async write(entry: AuditEntry, origin: Origin): Promise<void> {
    await this.attempt(entry.event, () => insertAudit(this.database, entry, origin));
  }

  /**
   * Counts an event that anyone can repeat. The log gets one record per subject and window, with the number
   * of events. Never throws, like `write`.
   */
  async count(record: RepeatableEvent): Promise<void> {
    await this.attempt(record.entry.event, () => countEvent(this.database, record));
  }

  private async attempt(event: AuditEvent, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      recordsLost.inc({ event });
      this.logger.error({ error, event }, 'An audit record could not be written.');
    }
  }
}

/**
 * Writes a record.
 * @param sql the transaction of the audited action, if it has one
 * @param origin undefined for actions of operators and background jobs
 */
export async function insertAudit(sql: Sql, entry: AuditEntry, origin?: Origin): Promise<void> {
  await sql.run(insert, [
    entry.event,
    entry.userId ?? null,
    entry.clientId ?? null,
    origin?.ip ?? null,
    origin?.userAgent ?? null,
    JSON.stringify(entry.details ?? {}),
  ]);
  recordsWritten.inc({ event: entry.event });
}

/** Returns the origin of an Express or Koa request. */
export function originOf(request: {
  readonly ip?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}): Origin {
  return {
    ip: request.ip ?? 'unknown',
    userAgent: request.headers['user-agent']?.slice(0, maxUserAgentLength),
  };
}
