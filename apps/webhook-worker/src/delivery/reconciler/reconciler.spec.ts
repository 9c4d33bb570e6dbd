import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { createLogger } from '@fulfilment/runtime';
import { allShards } from '@fulfilment/service-host/shards';
import { migrations } from '../../migrations/index.js';
import type { DueSubscription } from '../../dispatch-queue/lane-queue.js';
import { Reconciler } from './reconciler.js';

const addDue = statement(
  'test.add-due',
  `WITH subscriptions AS (
     INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status)
     SELECT id, gen_random_uuid(), 'client', 'https://receiver.example', ARRAY['order.created'], '', 'v', 'active'
     FROM unnest($1::uuid[]) AS id RETURNING id
   )
   INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status, next_attempt_at)
   SELECT current_date, gen_random_uuid(), id, gen_random_uuid(), 'order.created', 'v', 'pending', now()
   FROM subscriptions`,
);
const disableAnalyse = statement(
  'test.disable-analyse',
  'ALTER TABLE webhook_subscriptions SET (autovacuum_enabled = off)',
);
const analyse = statement('test.analyse', 'ANALYZE webhook_subscriptions');
/** More than a page of a scan in each half. */
const subscriptionCount = 1_300;

describe('the reconcilers of several replicas', () => {
  let scratch: ScratchDatabase;
  const ids = Array.from({ length: subscriptionCount }, () => uuidv7()).toSorted();
  beforeAll(async () => {
    scratch = await scratchDatabase(migrations, { forceGenericPlan: true });
    await scratch.database.run(disableAnalyse);
    await scratch.database.run(addDue, [ids]);
  });
  afterAll(() => scratch.drop());

  /** Runs a scan. Returns the subscriptions that it found due. */
  async function scan(owned: readonly number[]): Promise<string[]> {
    const found: string[] = [];
    const requeue = (due: readonly DueSubscription[]): void => {
      found.push(...due.map(({ subscriptionId }) => subscriptionId));
    };
    const ended = Promise.withResolvers<void>();
    let scans = 0;
    const shards = {
      // A scan reads its shards when it begins: the second read shows that the first scan has ended.
      get owned() {
        if (scans > 0) ended.resolve();
        scans += 1;
        return scans === 1 ? owned : [];
      },
      onTaken: () => undefined,
    };
    const reconciler = new Reconciler(
      scratch.database,
      { requeue, isWaiting: () => false },
      { requestStateSync: () => Promise.resolve() },
      { isWaiting: () => false },
      shards,
      createLogger('test', 'silent'),
    );
    reconciler.start();
    const waking = setInterval(() => reconciler.wake(), 10); // so that the next scan follows at once
    await ended.promise;
    clearInterval(waking);
    await reconciler.stop();
    return found;
  }

  it('find every due subscription once, before and after the statistics of the table are known', async () => {
    const halves = async () => [await scan(allShards.slice(0, 8)), await scan(allShards.slice(8))] as const;
    expect(await halves()).toEqual([ids, []]); // without statistics, shard 0 has all ids
    await scratch.database.run(analyse);
    const [lower, upper] = await halves();
    expect([...lower, ...upper]).toEqual(ids);
    expect(Math.abs(lower.length - upper.length)).toBeLessThan(subscriptionCount / 10);
  });

  it('find nothing while they own no shard', async () => {
    expect(await scan([])).toEqual([]);
  });
});
