import { writeCountedRecords } from '../audit/counted-records.js';
import type { RunningServer } from './running-server.fixture.js';
import { testStatement } from './test-statement.fixture.js';

type HasDatabase = Pick<RunningServer, 'database'>;

/** Sets the failures of all networks to 0, so that a test reaches the limit of an account before theirs. */
export async function resetNetworkFailures({ database }: HasDatabase): Promise<void> {
  await database.run(
    testStatement(`UPDATE guess_counts SET failed = 0 WHERE starts_with(subject, 'address:')`),
  );
}

/** Ends all windows: failures expire, and counted records are written to the audit log. */
export async function endGuessWindows({ database }: HasDatabase): Promise<void> {
  await database.run(
    testStatement(
      `UPDATE guess_counts SET locked_until = now(), expires_at = now(), failed_at = now() - interval '1 day'`,
    ),
  );
  await writeCountedRecords(database);
}
