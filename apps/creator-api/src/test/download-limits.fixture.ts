import { statement, type Statement } from '@fulfilment/database';
import { untilLockWaits } from '@fulfilment/database/testing';
import { type CreatorApi, ownerClaims } from './creator-api.fixture.js';

const countLockWaits = statement(
  'test.count-lock-waits',
  `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
);

/** A download by an owner of an organisation. */
interface Download {
  readonly organisation: string;
  readonly path: string;
}

/**
 * Checks that the process runs two downloads at once, and one of an organisation: a second one of the same
 * organisation is 429, and one of a third organisation waits.
 * @param lock locks a table that a download reads after its first line, so that downloads stay in progress
 * @param downloads of three organisations
 */
export async function expectDownloadLimits(
  api: CreatorApi,
  lock: Statement,
  downloads: readonly [Download, Download, Download],
): Promise<void> {
  const start = async ({ organisation, path }: Download) => {
    const { status } = await api.get(path, ownerClaims(organisation));
    return status;
  };
  const [first, second, third] = downloads;
  const started: Promise<number>[] = [];
  await api.database.transaction(async (tx) => {
    await tx.run(lock);
    for (const download of [first, second]) {
      started.push(start(download));
      await untilLockWaits(api.database, { count: started.length });
    }
    expect(await start(first)).toBe(429);
    const concurrent = [start(third), start(third)];
    expect(await Promise.race(concurrent)).toBe(429); // the other one waits
    started.push(...concurrent);
    // While these requests are handled, the waiting download would reach the lock if it did not wait.
    for (let request = 0; request < 3; request += 1) expect(await start(third)).toBe(429);
    expect(await api.database.row(countLockWaits)).toEqual({ count: 2 });
  });
  expect((await Promise.all(started)).toSorted()).toEqual([200, 200, 200, 429]);
}
