import { statement } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { createLogger, systemClock } from '@fulfilment/runtime';
import { cleanupJobs } from './cleanup-jobs.js';
import { migrations } from './migrations/index.js';

// A subscription for each number of days since its deletion; null: it is not deleted.
const insertSubscriptions = statement(
  'test.insert-subscriptions',
  `WITH subscriptions AS (
     INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status, deleted_at)
     SELECT gen_random_uuid(), gen_random_uuid(), 'client', concat('https://receiver.example/', days), '{order.created}', '', 'v',
       'active', now() - days * interval '1 day'
     FROM unnest($1::int[]) AS days RETURNING id
   )
   INSERT INTO webhook_owner_requests (subscription_id, kind, requested_at) SELECT id, 'test', '{}' FROM subscriptions`,
);
const readUrls = statement('test.read-urls', 'SELECT url FROM webhook_subscriptions');

describe('the cleanup jobs', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
  });
  afterAll(() => scratch.drop());

  it('delete subscriptions 31 days after their owner deleted them, when their deliveries are gone', async () => {
    const { database } = scratch;
    await database.run(insertSubscriptions, [[null, 30, 32]]);
    for (const { deleteBatch } of cleanupJobs(database, systemClock, createLogger('test', 'silent')))
      await deleteBatch();
    const urls = (await database.rows<{ url: string }>(readUrls)).map(({ url }) => url);
    expect(urls.toSorted()).toEqual(['https://receiver.example/', 'https://receiver.example/30']);
  });
});
