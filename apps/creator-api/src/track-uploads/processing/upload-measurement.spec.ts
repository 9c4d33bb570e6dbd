import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { createLogger } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import { creatorApi, type CreatorApi } from '../../test/creator-api.fixture.js';
import { insertOpenUploads } from '../track-uploads.fixture.js';
import { UploadMeasurement } from './upload-measurement.job.js';
import { uploadMetrics } from './upload-metrics.js';

const setDue = statement(
  'test.set-due',
  `UPDATE track_uploads SET due_at = now() + $2 * interval '1 minute' WHERE creator_id = $1`,
);
const lease = statement(
  'test.lease',
  `UPDATE track_uploads SET due_at = NULL, lease_token = gen_random_uuid(), lease_until = now() + interval '1 minute'
   WHERE creator_id = $1`,
);

describe('the measurement of track uploads', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi();
  });
  afterAll(() => api.stop());

  it('counts the open uploads, and has the time since the oldest became due', async () => {
    const [overdue, postponed, leased] = [uuidv7(), uuidv7(), uuidv7()];
    for (const creator of [overdue, postponed, leased])
      await api.database.run(insertOpenUploads, [creator, null, 1]);
    await api.database.run(setDue, [overdue, -5]);
    await api.database.run(setDue, [postponed, 5]);
    await api.database.run(lease, [leased]);
    const measurement = new UploadMeasurement(api.database, createLogger('creator-api', 'fatal'));
    measurement.start();
    await eventually(async () => (await uploadMetrics.open.get()).values[0]?.value === 3);
    await measurement.stop();
    const seconds = (await uploadMetrics.oldestDue.get()).values[0]?.value ?? 0;
    expect([seconds >= 300, seconds < 360]).toEqual([true, true]);
  });
});
