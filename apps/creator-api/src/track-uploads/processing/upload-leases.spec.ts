import { uuidv7 } from '@fulfilment/contracts';
import { createLogger } from '@fulfilment/runtime';
import { creatorApi, type CreatorApi } from '../../test/creator-api.fixture.js';
import { aCreator } from '../../creators/creator-snapshot.fixture.js';
import { insertOpenUploads } from '../track-uploads.fixture.js';
import { UploadLeases } from './upload-leases.js';

describe('the lease of a track upload', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi(); // without a worker
  });
  afterAll(() => api.stop());

  const insertDue = async (creatorId: string, count: number) =>
    (await api.database.rows<{ id: string }>(insertOpenUploads, [creatorId, null, count])).map(
      ({ id }) => id,
    );
  const leasesWith = (TRACK_UPLOAD_ORGANISATION_CONCURRENCY: number, TRACK_UPLOAD_CONCURRENCY = 64) =>
    new UploadLeases(
      api.database,
      { TRACK_UPLOAD_LEASE_MS: 30_000, TRACK_UPLOAD_CONCURRENCY, TRACK_UPLOAD_ORGANISATION_CONCURRENCY },
      createLogger('creator-api', 'fatal'),
    );
  /** Claims the uploads concurrently. Returns those that were leased. */
  const claimAll = async (limit: number, ids: readonly string[], replicaConcurrency?: number) => {
    const results = await Promise.all(ids.map((id) => leasesWith(limit, replicaConcurrency).claim(id)));
    return results.flatMap((claim) => (claim.result === 'leased' ? [claim.upload] : []));
  };

  it.each([1, 3])(
    'is granted for at most %i uploads of an unregistered creator, even to concurrent requests',
    async (limit) => {
      const ids = await insertDue(uuidv7(), 8);
      expect(await claimAll(limit, ids)).toHaveLength(limit);
    },
  );

  it.each([
    [3, 64, 3],
    [32, 8, 4], // half of the slots
    [4, 1, 1], // at least one
  ])(
    'is granted, with a limit of %i uploads per organisation and %i slots, for %i uploads of an organisation with three creators',
    async (limit, replicaConcurrency, expected) => {
      const organisation = `org_${uuidv7()}`;
      const creators = [aCreator(organisation), aCreator(organisation), aCreator(organisation)];
      await api.record({ creators });
      const ids = await Promise.all(creators.map(({ id }) => insertDue(id, 3)));
      expect(await claimAll(limit, ids.flat(), replicaConcurrency)).toHaveLength(expected);
    },
  );

  it('is granted to each of two unregistered creators, which count as separate organisations', async () => {
    const ids = [...(await insertDue(uuidv7(), 4)), ...(await insertDue(uuidv7(), 4))];
    expect(await claimAll(1, ids)).toHaveLength(2);
  });

  it('is granted to one of several concurrent requests, and to the next after its release', async () => {
    const ids = await insertDue(uuidv7(), 2);
    const [first] = await claimAll(1, [...ids, ...ids, ...ids]);
    if (first === undefined) throw new Error('No request got the lease.');
    expect(await leasesWith(1).claim(first.id)).toEqual({
      result: 'unavailable',
      retryAfterMs: expect.any(Number),
    });
    await leasesWith(1).release(first);
    expect(await claimAll(1, ids)).toHaveLength(1);
  });

  it('is not granted for an upload that does not exist, which counts as finished', async () => {
    expect(await leasesWith(1).claim(uuidv7())).toEqual({ result: 'finished' });
  });
});
