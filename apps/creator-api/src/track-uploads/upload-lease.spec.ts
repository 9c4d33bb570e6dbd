import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { createLogger } from '@fulfilment/runtime';
import { creatorApi, type CreatorApi } from '../creator-api.fixture.js';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
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
  const leases = (TRACK_UPLOAD_ORGANISATION_CONCURRENCY: number, TRACK_UPLOAD_CONCURRENCY = 64) =>
    new UploadLeases(
      api.database,
      { TRACK_UPLOAD_LEASE_MS: 30_000, TRACK_UPLOAD_CONCURRENCY, TRACK_UPLOAD_ORGANISATION_CONCURRENCY },
      createLogger('creator-api', 'fatal'),
    );
  const taken = async (bound: number, ids: readonly string[], ofAReplica?: number) => {
    const taking = await Promise.all(ids.map((id) => leases(bound, ofAReplica).take(id)));
    return taking.flatMap((upload) => (upload !== undefined && 'token' in upload ? [upload] : []));
  };

  it.each([1, 3])(
    'is given to at most %i of a creator that is not known yet, however many ask at once',
    async (bound) => {
      const ids = await due(uuidv7(), 8);
      expect(await taken(bound, ids)).toHaveLength(bound);
    },
  );

  it.each([
    [3, 64, 3],
    [32, 8, 4],
    [4, 1, 1],
  ])(
    'is given to at most %i of an organisation and half of %i, whatever creators it has',
    async (bound, ofAReplica, most) => {
      const organisation = `org_${uuidv7()}`;
      const creators = [aCreator(organisation), aCreator(organisation), aCreator(organisation)];
      await api.record({ creators });
      const ids = await Promise.all(creators.map(({ id }) => due(id, 3)));
      expect(await taken(bound, ids.flat(), ofAReplica)).toHaveLength(most);
    },
  );

  it('is given to one of each organisation at once', async () => {
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
