import { type Database, type Sql, statement } from '@fulfilment/database';
import type { Origin } from '../audit/audit-log.js';
import type { UnitOfWork } from '../tokens/unit-of-work.js';

/** A browser in which somebody is signed in. */
export interface BrowserSession {
  readonly uid: string;
  readonly ip: string;
  readonly user_agent: string | null;
  readonly signed_in_at: Date;
}

const listedAtMost = 100;
const prunedAtOnce = 1000;

const note = statement(
  'browser-sessions.note',
  `INSERT INTO browser_sessions (uid, user_id, ip, user_agent, expires_at) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (uid) DO UPDATE SET ip = EXCLUDED.ip, user_agent = EXCLUDED.user_agent,
     signed_in_at = now(), expires_at = EXCLUDED.expires_at WHERE browser_sessions.user_id = EXCLUDED.user_id`,
);
const list = statement(
  'browser-sessions.list',
  `SELECT browser.uid, browser.ip, browser.user_agent, browser.signed_in_at
   FROM browser_sessions AS browser
   JOIN oidc_model AS session ON session.model = 'Session' AND session.session_uid = browser.uid
   WHERE browser.user_id = $1 AND browser.ended_at IS NULL AND session.account_id = browser.user_id::text
     AND session.expires_at > now()
   ORDER BY browser.signed_in_at DESC, browser.uid LIMIT ${listedAtMost}`,
);
const forget = statement(
  'browser-sessions.forget',
  `DELETE FROM browser_sessions WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM browser_sessions AS browser
     WHERE expires_at < now() AND NOT EXISTS (
       SELECT 1 FROM oidc_model WHERE model = 'Session' AND session_uid = browser.uid)
     LIMIT ${prunedAtOnce} FOR UPDATE SKIP LOCKED))`,
);

/** Where people are signed in, as they may see and end it. The sessions themselves are oidc-provider's. */
export class BrowserSessions {
  constructor(
    private readonly database: Database,
    private readonly work: UnitOfWork,
  ) {}

  /** Remembers from where a session was signed in. @param expiresAt in seconds since 1970 */
  async note(uid: string, userId: string, origin: Origin, expiresAt: number): Promise<void> {
    const sql = await this.work.sql();
    await sql.run(note, [uid, userId, origin.ip, origin.userAgent ?? null, new Date(expiresAt * 1000)]);
  }

  /** The newest sign-in first. */
  of(userId: string): Promise<BrowserSession[]> {
    return this.database.rows<BrowserSession & Record<string, unknown>>(list, [userId]);
  }

  /** Forgets sessions that are long over, a batch at a time. Answers whether there may be more. */
  async prune(sql: Sql): Promise<boolean> {
    return (await sql.run(forget)) === prunedAtOnce;
  }
}
