import { uuidv7 } from '@fulfilment/contracts';
import { createDataSource, Database, statement } from '@fulfilment/database';
import { eventually, flakyProxy } from '@fulfilment/testing';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { dayFromNow, writeDue, writeHealthySubscription } from '../../test/due-deliveries.fixture.js';
import { migrations } from '../../migrations/index.js';
import type { DaySpan } from '../../dispatch-queue/day-span.rules.js';
import { DueScans } from './due-scans.js';
import { ClaimDeliveries } from './claim-deliveries.js';
import { initialWindow } from '../concurrency/window.rules.js';

let scratch: ScratchDatabase;
let claimDeliveries: ClaimDeliveries;
let subscriptionId: string;

const holdAllBut = statement(
  'test.hold-all-but',
  `UPDATE webhook_deliveries SET status = 'held', next_attempt_at = NULL
   WHERE id IN (SELECT id FROM webhook_deliveries WHERE subscription_id = $1 AND day = $2 AND status = 'pending' OFFSET $3)`,
);

const setReceiver = statement(
  'test.set-receiver',
  `UPDATE webhook_subscriptions SET lane = :lane, consecutive_failures = :failures, max_in_flight = :max_in_flight,
     last_delivery_at = CASE WHEN :is_new THEN NULL ELSE last_delivery_at END WHERE id = :id`,
);
const healthyReceiver = { lane: 'fast', failures: 0, max_in_flight: 64, is_new: false };
// A delivery before its first attempt, one between attempts, one manually retried and one recovered.
const setStates = statement(
  'test.set-states',
  `UPDATE webhook_deliveries d SET status = state.status, trigger = state.trigger, prior_status = state.prior_status,
     attempt_count = state.attempt_count
   FROM (SELECT id, row_number() OVER () AS number FROM webhook_deliveries WHERE subscription_id = $1) AS numbered
   JOIN (VALUES (1, 'pending', 'auto', NULL, 0), (2, 'retrying', 'auto', NULL, 2), (3, 'pending', 'manual', 'failed', 2),
     (4, 'pending', 'recover', NULL, 2)) AS state (number, status, trigger, prior_status, attempt_count) USING (number)
   WHERE d.id = numbered.id`,
);
const readStates = statement(
  'test.read-states',
  `SELECT id, status, attempt_count, attempt_started_at IS NOT NULL AS "wasClaimed"
   FROM webhook_deliveries WHERE subscription_id = $1 ORDER BY id`,
);

interface State {
  readonly status: string;
  readonly wasClaimed: boolean;
}

const settings = { WEBHOOK_TIMEOUT_MS: 30_000, WEBHOOK_LEASE_SLACK_MS: 30_000 };

beforeAll(async () => {
  scratch = await scratchDatabase(migrations, { forceGenericPlan: true });
  claimDeliveries = new ClaimDeliveries(scratch.database, settings, new DueScans());
});
afterAll(() => scratch.drop());
beforeEach(async () => {
  subscriptionId = uuidv7();
  await writeHealthySubscription(scratch.database, subscriptionId);
});

const [yesterday, today] = [dayFromNow(-1), dayFromNow(0)];
const url = 'https://receiver.example';
const receiver = { url, window: initialWindow };
const claim = (days?: DaySpan) =>
  claimDeliveries.run({ subscriptionId, maxCount: 8, running: 0, receiver, days });

describe('a claim', () => {
  it('finds all due deliveries if its days are unknown, and returns the days to search next', async () => {
    await writeDue(scratch.database, subscriptionId, { day: today });
    // Also due now: `day` determines only the partition.
    await writeDue(scratch.database, subscriptionId, { day: dayFromNow(20) });
    const { deliveries, days } = await claim();
    expect(deliveries.map(({ day }) => day).toSorted()).toEqual([today, dayFromNow(20)]);
    expect(days).toEqual({ from: today, to: dayFromNow(20), more: false });
    expect(await claim()).toMatchObject({ deliveries: [], moreDue: false, days: undefined });
  });

  it('searches only its days if they are known', async () => {
    await writeDue(scratch.database, subscriptionId, { day: yesterday });
    await writeDue(scratch.database, subscriptionId, { day: today });
    const { deliveries } = await claim({ from: today, to: today });
    expect(deliveries.map(({ day }) => day)).toEqual([today]);
  });

  it('continues with other days when other processes have claimed the deliveries it had found', async () => {
    const moreThanOneSearch = 70; // a search for days reads 64 deliveries
    await writeDue(scratch.database, subscriptionId, {
      day: yesterday,
      count: moreThanOneSearch,
      forSeconds: 120, // due before those of today (60 s), so that a search reads them first
    });
    await writeDue(scratch.database, subscriptionId, { day: today });
    const first = await claim();
    expect(first).toMatchObject({ moreDue: true, days: { from: yesterday, to: yesterday, more: true } });
    await scratch.database.run(holdAllBut, [subscriptionId, yesterday, 2]); // as if claimed by others
    const second = await claim(first.days);
    expect(second.deliveries.map(({ day }) => day)).toEqual([yesterday, yesterday]);
    expect(second).toMatchObject({ moreDue: true, days: undefined });
    const third = await claim(second.days);
    expect(third.deliveries.map(({ day }) => day)).toContain(today);
  });

  it('continues with other days when full batches have claimed all deliveries it had found', async () => {
    // As many as a search for days reads, and due before those of today (60 s).
    await writeDue(scratch.database, subscriptionId, { day: yesterday, count: 64, forSeconds: 120 });
    await writeDue(scratch.database, subscriptionId, { day: today });
    let { days } = await claim();
    for (let batch = 1; batch < 8; batch += 1) ({ days } = await claim(days)); // 64 deliveries in all
    const empty = await claim(days);
    expect(empty).toMatchObject({ deliveries: [], moreDue: true, days: undefined });
    const { deliveries } = await claim(empty.days);
    expect(deliveries.map(({ day }) => day)).toEqual([today]);
  });

  it.each([
    ['is healthy', 8, {}],
    ['has failed twice', 8, { failures: 2 }],
    ['has failed three times', 1, { failures: 3 }],
    ['is slow', 4, { lane: 'slow' }],
    ['is new', 1, { is_new: true }],
    ['is limited to three by its owner', 3, { max_in_flight: 3 }],
  ])(
    'for a receiver that %s is limited to %d, including the running attempts',
    async (_, maxCount, changes) => {
      await scratch.database.run(setReceiver, { ...healthyReceiver, ...changes, id: subscriptionId });
      await writeDue(scratch.database, subscriptionId, { day: today, count: 10 });
      const days = { from: today, to: today };
      const request = { subscriptionId, maxCount: 64, receiver, days };
      const first = await claimDeliveries.run({ ...request, running: 0 });
      expect(first.deliveries).toHaveLength(maxCount);
      const second = await claimDeliveries.run({ ...request, running: maxCount });
      expect(second.deliveries).toEqual([]);
    },
  );

  it('is reverted long before its lease ends when its response is lost with the connection', async () => {
    const proxy = await flakyProxy(scratch.url);
    const source = createDataSource({ url: proxy.url, poolSize: 1, applicationName: 'cut', migrations: [] });
    await source.initialize();
    try {
      const claimsBehindProxy = new ClaimDeliveries(new Database(source), settings, new DueScans());
      const days = { from: today, to: today };
      const request = { subscriptionId, maxCount: 8, running: 0, receiver, days };
      await claimsBehindProxy.run(request); // prepares the statement
      await writeDue(scratch.database, subscriptionId, { day: today, count: 4 });
      await scratch.database.run(setStates, [subscriptionId]);
      const before = await scratch.database.rows<State>(readStates, [subscriptionId]);
      proxy.severAfter(1); // the next packet, which is the claim
      await expect(claimsBehindProxy.run(request)).rejects.toThrow();
      let after: State[] = [];
      await eventually(async () => {
        after = await scratch.database.rows<State>(readStates, [subscriptionId]);
        return after.every(({ status, wasClaimed }) => wasClaimed && status !== 'in_flight');
      });
      expect(after).toEqual(before.map((delivery) => ({ ...delivery, wasClaimed: true })));
      expect((await claim(days)).deliveries).toHaveLength(4);
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  });
});
