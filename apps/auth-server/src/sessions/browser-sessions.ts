import { Injectable } from '@nestjs/common';
import { Database, type Sql, statement } from '@fulfilment/database';
import type { Origin } from '../audit/audit-log.js';
import { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';

/** A browser in which a person is signed in. */
export interface BrowserSession {
  readonly uid: string;
  readonly ip: string;
  readonly user_agent: string | null;
  readonly signed_in_at: Date;
}

/** Keeps the page readable. "Sign out all other browsers" ends older sign-ins, too. */
const maxListed = 100;
const batchSize = 1000;

// An ended session is not updated, nor one of a disabled person added, so that no address is stored again for
// a redacted person. The user is locked first, as wherever sessions end.
const upsert = statement(
  'browser-sessions.upsert',
  `WITH person AS MATERIALIZED (SELECT id FROM users WHERE id = $2 AND disabled_at IS NULL FOR KEY SHARE)
   INSERT INTO browser_sessions (uid, user_id, ip, user_agent, expires_at) SELECT $1, id, $3, $4, $5 FROM person
   ON CONFLICT (uid) DO UPDATE SET ip = EXCLUDED.ip, user_agent = EXCLUDED.user_agent,
     signed_in_at = now(), expires_at = EXCLUDED.expires_at
   WHERE browser_sessions.user_id = EXCLUDED.user_id AND browser_sessions.ended_at IS NULL`,
);
const list = statement(
  'browser-sessions.list',
  `SELECT browser.uid, browser.ip, browser.user_agent, browser.signed_in_at
   FROM browser_sessions AS browser
   JOIN oidc_model AS session ON session.model = 'Session' AND session.session_uid = browser.uid
   WHERE browser.user_id = $1 AND browser.ended_at IS NULL AND session.account_id = browser.user_id::text
     AND session.expires_at > now()
   ORDER BY browser.signed_in_at DESC, browser.uid LIMIT ${maxListed}`,
);
const deleteExpired = statement(
  'browser-sessions.delete-expired',
  `DELETE FROM browser_sessions WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM browser_sessions AS browser
     WHERE expires_at < now() AND NOT EXISTS (
       SELECT 1 FROM oidc_model WHERE model = 'Session' AND session_uid = browser.uid)
     LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))`,
);

/**
 * Browsers in which people are signed in, for the account pages. The sessions themselves belong to
 * oidc-provider.
 */
@Injectable()
export class BrowserSessions {
  constructor(
    private readonly database: Database,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Stores the origin of a session's sign-in. @param expiresAt in seconds since 1970 */
  async record(uid: string, userId: string, origin: Origin, expiresAt: number): Promise<void> {
    const sql = await this.unitOfWork.openForWrites();
    await sql.run(upsert, [uid, userId, origin.ip, origin.userAgent ?? null, new Date(expiresAt * 1000)]);
  }

  /** Returns the newest sign-in first. */
  list(userId: string): Promise<BrowserSession[]> {
    return this.database.rows<BrowserSession>(list, [userId]);
  }

  /** Deletes a batch of rows that have expired and whose session no longer exists. Returns their number. */
  deleteExpired(sql: Sql): Promise<number> {
    return sql.run(deleteExpired);
  }
}
