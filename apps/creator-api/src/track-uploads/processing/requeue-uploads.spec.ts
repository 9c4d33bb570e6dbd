import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { scratchDatabase } from '@fulfilment/database/testing';
import { createLogger } from '@fulfilment/runtime';
import { eventually, storeUrl } from '@fulfilment/testing';
import { Redis } from 'ioredis';
import { creatorApi, type CreatorApi } from '../../test/creator-api.fixture.js';
import { migrations } from '../../migrations/index.js';
import { uploadRequeueLoop } from './requeue-uploads.js';
import { insertOpenUploads, uploadClient } from '../track-uploads.fixture.js';
import { uploadMetrics } from './upload-metrics.js';
import type { QueuedUpload } from './upload-queue.js';

const makeOverdue = statement(
  'test.make-overdue',
  "UPDATE track_uploads SET due_at = now() - interval '1 minute' WHERE id = $1",
);

const postpone = statement(
  'test.postpone',
  "UPDATE track_uploads SET due_at = now() + interval '1 hour' WHERE id = $1",
);

const makeAllOverdue = statement(
  'test.make-all-overdue',
  "UPDATE track_uploads SET due_at = now() - interval '1 minute'",
);

describe('requeuing of track uploads', () => {
  it('retries the page of uploads that Redis did not accept, before the next page', async () => {
    const scratch = await scratchDatabase(migrations);
    const { database } = scratch;
    await database.run(insertOpenUploads, [uuidv7(), null, 501]); // a page has 500
    await database.run(makeAllOverdue);
    const triedPages: string[][] = [];
    const queue = {
      addMissing: (uploads: readonly QueuedUpload[]) => {
        triedPages.push(uploads.map(({ id }) => id));
        return Promise.reject(new Error('Redis is not connected.'));
      },
    };
    const requeuing = uploadRequeueLoop(database, queue, createLogger('test', 'silent'));
    requeuing.start();
    try {
      await eventually(() => triedPages.length >= 2);
      expect(triedPages[0]).toHaveLength(500);
      expect(triedPages[1]).toEqual(triedPages[0]);
    } finally {
      await requeuing.stop();
      await scratch.drop();
    }
  });
});

describe('requeuing of a track upload', () => {
  let api: CreatorApi;
  let redis: Redis;
  beforeAll(async () => {
    api = await creatorApi(); // without a worker
    redis = new Redis(storeUrl('TEST_REDIS_URL'));
  });
  afterAll(async () => {
    redis.disconnect();
    await api.stop();
  });

  it('counts a lost job once, although its upload stays due while it waits in the queue', async () => {
    const uploads = await uploadClient(api);
    const jobs = `${api.settings.TRACK_UPLOAD_QUEUE_PREFIX}:track-uploads`;
    const requeued = async () => (await uploadMetrics.requeued.get()).values[0]?.value ?? 0;
    const registerAndQueue = async () => {
      const { id, workflow_id: jobId } = await uploads.register('https://files.example.com/track.wav');
      await api.database.run(postpone, [id]); // else a round may add its job before the API does
      const job = `${jobs}:${jobId}`;
      await eventually(async () => (await redis.exists(job)) === 1);
      return { id, job };
    };
    const queued = [await registerAndQueue(), await registerAndQueue()];
    const before = await requeued();
    // In the round that requeues the second upload, the first one is still due.
    for (const [index, { id, job }] of queued.entries()) {
      expect(await redis.del(job)).toBe(1);
      await api.database.run(makeOverdue, [id]);
      await eventually(async () => (await redis.exists(job)) === 1);
      await eventually(async () => (await requeued()) > before + index);
    }
    expect(await requeued()).toBe(before + 2);
  });
});
