import type { Database } from '@fulfilment/database';
import type { CleanupJob } from '@fulfilment/service-host';
import type { DenyList } from './revocation/deny-list.js';
import type { BrowserSessions } from './sessions/browser-sessions.js';
import type { GuessCounts } from './sign-in/throttling/guess-counts.js';
import { deleteExpiredRecords } from './tokens/delete-expired-records.js';

const intervalMs = 60_000;

/** Returns the jobs that delete expired rows of auth-server. All replicas run them. */
export function cleanupJobs(
  database: Database,
  denyList: DenyList,
  browsers: BrowserSessions,
  guesses: GuessCounts,
): CleanupJob[] {
  return [
    { name: 'expired records', intervalMs, deleteBatch: () => deleteExpiredRecords(database) },
    { name: 'revoked tokens', intervalMs, deleteBatch: () => denyList.deleteExpired() },
    { name: 'browser sessions', intervalMs, deleteBatch: () => browsers.deleteExpired(database) },
    { name: 'guess counts', intervalMs, deleteBatch: () => guesses.deleteExpired(database) },
  ];
}
