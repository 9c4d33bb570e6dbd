import { uuidv7 } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { migrations } from '../migrations/index.js';
import { deleteOldUploads } from './delete-old-uploads.js';

const insert = statement(
  'test.insert-uploads',
  `INSERT INTO track_uploads (id, workflow_id, creator_id, release_id, track_id, upload_url, status, due_at, audio, failure, created_at, updated_at)
   SELECT gen_random_uuid(), gen_random_uuid(), $1, $1, gen_random_uuid(), CASE WHEN $2 = 'pending' THEN 'https://x.example/' END, $2,
     CASE WHEN $2 = 'pending' THEN now() END, CASE WHEN $2 = 'completed' THEN '{}'::jsonb END, CASE WHEN $2 = 'failed' THEN '{}'::jsonb END,
     now() - make_interval(days => $3), now() - make_interval(days => $3)
   FROM generate_series(1, $4)`,
);
const kept = statement(
  'test.kept-uploads',
  `SELECT status, round(extract(epoch FROM now() - updated_at) / 86400)::int AS days, count(*) AS uploads
   FROM track_uploads GROUP BY 1, 2 ORDER BY 1, 2`,
);

describe('track uploads that ended longer ago than the retention period', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
    database = scratch.database;
  });
  afterAll(() => scratch.drop());

  it('are deleted in batches, but not with a retention of 0 days; newer and open uploads stay', async () => {
    const creator = uuidv7();
    for (const [status, days, count] of [
      ['completed', 100, 1_200],
      ['completed', 80, 1],
      ['failed', 100, 10],
      ['pending', 100, 2],
    ])
      await database.run(insert, [creator, status, days, count]);
    expect(await deleteOldUploads(database, 0)).toBe(0);
    expect(await deleteOldUploads(database, 90)).toBe(1_000);
    expect(await deleteOldUploads(database, 90)).toBe(210);
    expect(await database.rows(kept)).toEqual([
      { status: 'completed', days: 80, uploads: 1 },
      { status: 'pending', days: 100, uploads: 2 },
    ]);
  });
});
