import { uuidv7 } from '@fulfilment/contracts';
import { Database, type Statement, statement, type Values } from '@fulfilment/database';
import {
  blocksRead,
  executedPlan,
  scratchDatabase,
  type ScratchDatabase,
} from '@fulfilment/database/testing';
import { dayFromNow, writeDue, writeHealthySubscription } from '../../test/due-deliveries.fixture.js';
import { migrations } from '../../migrations/index.js';
import { DueScans } from './due-scans.js';
import { ClaimDeliveries } from './claim-deliveries.js';
import { initialWindow } from '../concurrency/window.rules.js';

/** Records how many buffers each claim reads to find due deliveries. */
class ObservedDatabase extends Database {
  readonly buffers: number[] = [];

  override async rows<Row>(query: Statement, values: Values = []): Promise<Row[]> {
    if (query.name === 'deliveries.claim') this.buffers.push(await this.buffersOf(query, values));
    return super.rows<Row>(query, values);
  }

  private async buffersOf(query: Statement, values: Values): Promise<number> {
    const open = await this.begin();
    const nodes = await executedPlan(open.tx, query, values);
    await open.rollback();
    const scans = nodes.filter((node) => node['Index Name']?.includes('subscription_id_next_attempt'));
    return scans.reduce((sum, scan) => sum + blocksRead(scan), 0);
  }
}

/** A scan starts where the second claim before it ended, without the delay `lagMs`. Only one scan is full. */
class FollowingScans extends DueScans {
  protected override readonly times = { lagMs: 0, fullScanMs: 600_000 };
}

const settleAll = statement(
  'test.settle-all',
  `UPDATE webhook_deliveries SET status = 'succeeded', next_attempt_at = NULL, completed_at = now()`,
);
const count = statement('test.count', 'SELECT count(*) AS count FROM webhook_deliveries');
const today = dayFromNow(0);
const subscriptionId = uuidv7();

describe('claims whose scans start where earlier claims ended', () => {
  let scratch: ScratchDatabase;
  let database: ObservedDatabase;
  beforeAll(async () => {
    scratch = await scratchDatabase(migrations, { forceGenericPlan: true });
    database = new ObservedDatabase(scratch.dataSource);
    await writeHealthySubscription(scratch.database, subscriptionId);
  });
  afterAll(() => scratch.drop());

  /** Claims four batches of eight. */
  const claimBatches = async (scans: DueScans) => {
    const settings = { WEBHOOK_TIMEOUT_MS: 30_000, WEBHOOK_LEASE_SLACK_MS: 30_000 };
    const claimDeliveries = new ClaimDeliveries(database, settings, scans);
    const receiver = { url: 'https://receiver.example', window: initialWindow };
    const days = { from: today, to: today };
    const claimed = [];
    for (let batch = 0; batch < 4; batch += 1) {
      const { deliveries } = await claimDeliveries.run({
        subscriptionId,
        maxCount: 8,
        running: 0,
        receiver,
        days,
      });
      claimed.push(...deliveries);
    }
    return { claimed, buffers: database.buffers.splice(0) };
  };

  it('skip the index entries of sent deliveries, which a snapshot such as that of pg_dump keeps', async () => {
    const snapshot = await scratch.database.begin({ snapshot: true });
    await snapshot.tx.row(count); // the first statement takes the snapshot
    await writeDue(scratch.database, subscriptionId, { day: today, count: 5_000, forSeconds: 120 });
    await scratch.database.run(settleAll);
    for (const forSeconds of [90, 80, 70, 60])
      await writeDue(scratch.database, subscriptionId, { day: today, count: 8, forSeconds });
    const { claimed, buffers } = await claimBatches(new FollowingScans());
    await snapshot.rollback();
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(32);
    expect(buffers[0]).toBeGreaterThan(50); // the entries of 5000 deliveries
    expect(buffers.at(-1)).toBeLessThan(20); // of 8, with the upper pages of the index
  });

  it('find a delivery that became due before the claimed ones only in a full scan', async () => {
    for (const forSeconds of [10, 9, 8])
      await writeDue(scratch.database, subscriptionId, { day: today, count: 8, forSeconds });
    const scans = new FollowingScans();
    expect((await claimBatches(scans)).claimed).toHaveLength(24);
    await writeDue(scratch.database, subscriptionId, { day: today, count: 3, forSeconds: 3_600 });
    expect((await claimBatches(scans)).claimed).toEqual([]);
    expect((await claimBatches(new FollowingScans())).claimed).toHaveLength(3);
  });
});
