import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { createLogger } from '@fulfilment/runtime';
import { creatorApi, type CreatorApi } from '../creator-api.fixture.js';
import { UploadLeases } from './upload-lease.js';

const insertDue = statement(
  'test.insert-due',
  `INSERT INTO track_uploads (id, workflow_id, creator_id, release_id, track_id, upload_url, status, due_at, created_at, updated_at)
   SELECT gen_random_uuid(), gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 'https://a.example/', 'pending', now(), now(), now()
   FROM generate_series(1, $2::int) RETURNING id`,
);

describe('the lease of a track upload', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi(); // nobody is at work here
  });
  afterAll(() => api.stop());

  const due = async (creatorId: string, count: number) =>
    (await api.database.rows<{ id: string }>(insertDue, [creatorId, count])).map(({ id }) => id);
  const leases = (TRACK_UPLOAD_CREATOR_CONCURRENCY: number) =>
    new UploadLeases(
      api.database,
      { TRACK_UPLOAD_LEASE_MS: 30_000, TRACK_UPLOAD_CREATOR_CONCURRENCY },
      createLogger('creator-api', 'fatal'),
    );
  const taken = async (bound: number, ids: readonly string[]) => {
    const taking = await Promise.all(ids.map((id) => leases(bound).take(id)));
    return taking.flatMap((upload) => (upload !== undefined && 'token' in upload ? [upload] : []));
  };

  it.each([1, 3])('is given to at most %i of a creator, however many ask at once', async (bound) => {
    const ids = await due(uuidv7(), 8);
    expect(await taken(bound, ids)).toHaveLength(bound);
  });

  it('is given to one of each creator at once', async () => {
    const ids = [...(await due(uuidv7(), 4)), ...(await due(uuidv7(), 4))];
    expect(await taken(1, ids)).toHaveLength(2);
  });

  it('is given to one of those who ask for the same upload, and to the next when it is given back', async () => {
    const ids = await due(uuidv7(), 2);
    const [first] = await taken(1, [...ids, ...ids, ...ids]);
    if (first === undefined) throw new Error('Nobody got it.');
    expect(await leases(1).take(first.id)).toEqual({ againInMs: expect.any(Number) });
    await leases(1).giveBack(first);
    expect(await taken(1, ids)).toHaveLength(1);
  });

  it('is no longer to be had when there is nothing to do', async () => {
    expect(await leases(1).take(uuidv7())).toBeUndefined();
  });
});
