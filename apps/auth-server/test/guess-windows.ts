import { writeCountedRecords } from '../src/audit/counted-records.js';
import type { RunningServer } from './running-server.js';

type Stores = Pick<RunningServer, 'database'>;

/** For tests about an account's count, which the network's would end first. */
export async function forgetNetworkFailures({ database }: Stores): Promise<void> {
  await database.run({
    name: 'test.forget-networks',
    text: `UPDATE guess_counts SET failed = 0 WHERE starts_with(subject, 'address:')`,
  });
}

/**
 * Time passes: every window is over, and its counted records are in the audit log. Failures that were counted
 * expire.
 */
export async function endGuessWindows({ database }: Stores): Promise<void> {
  await database.run({
    name: 'test.end-windows',
    text: `UPDATE guess_counts SET locked_until = now(), expires_at = now(), failed_at = now() - interval '1 day'`,
  });
  await writeCountedRecords(database);
}
