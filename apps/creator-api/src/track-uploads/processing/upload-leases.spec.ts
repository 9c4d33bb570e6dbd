import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { createLogger } from '@fulfilment/runtime';
import { creatorApi, type CreatorApi } from '../../test/creator-api.fixture.js';
import { countPagesRead } from '../../test/pages-read.fixture.js';
import { aCreator } from '../../creators/creator-snapshot.fixture.js';
import { endUploads, insertOpenUploads } from '../track-uploads.fixture.js';
import { claimUploads, type LeasedUpload, UploadLeases } from './upload-leases.js';

const leaseMs = 30_000;
const makeOlder = statement(
  'test.make-older',
  "UPDATE track_uploads SET due_at = due_at - interval '1 hour' WHERE creator_id = $1",
);
const postpone = statement(
  'test.postpone',
  "UPDATE track_uploads SET due_at = now() + interval '1 hour' WHERE id = $1",
);
const endLease = statement('test.end-lease', 'UPDATE track_uploads SET lease_until = now() WHERE id = $1');
const endUpload = statement(
  'test.end-upload',
  `UPDATE track_uploads SET status = 'failed', failure = '{}', upload_url = NULL, lease_token = NULL, lease_until = NULL
   WHERE id = $1`,
);
const countLeased = statement(
  'test.count-leased',
  'SELECT count(*) AS leased FROM track_uploads WHERE lease_until > now()',
);
// As a replica of the earlier version claims an upload.
const claimById = statement(
  'test.claim-by-id',
  `UPDATE track_uploads SET status = 'processing', runs = runs + 1, due_at = NULL, lease_token = gen_random_uuid(),
     lease_until = now() + interval '1 minute' WHERE id = $1`,
);
const insertEndedUploads = statement(
  'test.insert-ended-uploads',
  `INSERT INTO track_uploads (id, workflow_id, creator_id, release_id, track_id, status, failure, created_at, updated_at)
   SELECT gen_random_uuid(), gen_random_uuid(), $1, $1, gen_random_uuid(), 'failed', '{}', now(), now()
   FROM generate_series(1, $2::int)`,
);
const analyse = statement('test.analyse', 'ANALYZE track_uploads');

describe('the lease of a track upload', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi(); // without a worker
  });
  afterEach(() => api.database.run(endUploads));
  afterAll(() => api.stop());

  const insertDue = async (creatorId: string, count: number) =>
    (await api.database.rows<{ id: string }>(insertOpenUploads, [creatorId, null, count])).map(
      ({ id }) => id,
    );
  const leasesWith = (TRACK_UPLOAD_ORGANISATION_CONCURRENCY: number, TRACK_UPLOAD_CONCURRENCY = 64) =>
    new UploadLeases(
      api.database,
      { TRACK_UPLOAD_LEASE_MS: leaseMs, TRACK_UPLOAD_CONCURRENCY, TRACK_UPLOAD_ORGANISATION_CONCURRENCY },
      createLogger('creator-api', 'fatal'),
    );
  /** Claims at most `max` uploads in each of eight concurrent claims. */
  const claimConcurrently = async (limit: number, max: number, replicaConcurrency?: number) => {
    const claims = Array.from({ length: 8 }, () => leasesWith(limit, replicaConcurrency).claim(max));
    return (await Promise.all(claims)).flat();
  };
  const idsOf = (uploads: readonly LeasedUpload[]) => uploads.map(({ id }) => id);

  it.each([1, 3])(
    'is granted for at most %i uploads of an unregistered creator, even to concurrent claims',
    async (limit) => {
      await insertDue(uuidv7(), 8);
      for (const max of [1, 8]) {
        expect(await claimConcurrently(limit, max)).toHaveLength(max === 1 ? limit : 0);
        expect(await api.database.row(countLeased)).toEqual({ leased: limit });
      }
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
      for (const { id } of creators) await insertDue(id, 3);
      expect(await claimConcurrently(limit, 2, replicaConcurrency)).toHaveLength(expected);
    },
  );

  it('is granted to each of two unregistered creators, which count as separate organisations', async () => {
    for (const _ of [1, 2]) await insertDue(uuidv7(), 4);
    expect(await claimConcurrently(1, 8)).toHaveLength(2);
  });

  it('is granted to one of several concurrent claims, and to the next after its release', async () => {
    const ids = await insertDue(uuidv7(), 2);
    const [first, ...others] = await claimConcurrently(1, 2);
    if (first === undefined) throw new Error('No claim got the lease.');
    expect(others).toEqual([]);
    expect(await leasesWith(1).claim(2)).toEqual([]);
    await leasesWith(1).release(first);
    const [next, ...more] = await claimConcurrently(1, 2);
    expect(ids).toContain(next?.id);
    expect(more).toEqual([]);
  });

  it('is granted for the first upload of each organisation before the second of any', async () => {
    const organisation = `org_${uuidv7()}`;
    const [large, second, small] = [
      aCreator(organisation),
      aCreator(organisation),
      aCreator(`org_${uuidv7()}`),
    ];
    await api.record({ creators: [large, second, small] });
    const old = [...(await insertDue(large.id, 3)), ...(await insertDue(second.id, 3))];
    for (const { id } of [large, second]) await api.database.run(makeOlder, [id]);
    const recent = [...(await insertDue(small.id, 2)), ...(await insertDue(uuidv7(), 2))];
    const leases = leasesWith(4);
    const claimed = idsOf(await leases.claim(3));
    expect(claimed.filter((id) => old.includes(id))).toHaveLength(1);
    expect(claimed.filter((id) => recent.includes(id))).toHaveLength(2);
    // Each organisation has one running upload, so each gets one more.
    expect(idsOf(await leases.claim(3)).filter((id) => recent.includes(id))).toHaveLength(2);
    // The old ones reach the limit of four.
    expect(idsOf(await leases.claim(8)).filter((id) => old.includes(id))).toHaveLength(2);
  });

  it('is soon granted to a new organisation, although two with older uploads use all slots', async () => {
    for (const _ of [1, 2]) {
      const creator = uuidv7();
      await insertDue(creator, 40);
      await api.database.run(makeOlder, [creator]);
    }
    const [newest] = await insertDue(uuidv7(), 1);
    const leases = leasesWith(1);
    const running = await leases.claim(2);
    let claimCount = 0;
    while (!running.some(({ id }) => id === newest)) {
      expect((claimCount += 1)).toBeLessThan(40); // half of the claims are expected to find it
      const ended = running.shift();
      await api.database.run(endUpload, [ended?.id]);
      running.push(...(await leases.claim(1)));
    }
  });

  it('is granted when the upload is due or its lease has ended, and not before', async () => {
    const [id] = await insertDue(uuidv7(), 1);
    await api.database.run(postpone, [id]);
    expect(await leasesWith(1).claim(1)).toEqual([]);
    await api.database.run(
      statement('test.make-due', 'UPDATE track_uploads SET due_at = now() WHERE id = $1'),
      [id],
    );
    const [lost] = await leasesWith(1).claim(1);
    expect(lost).toMatchObject({ id, url: 'https://a.example/', failedRuns: 0, lostRuns: 0 });
    expect(await leasesWith(1).claim(1)).toEqual([]);
    await api.database.run(endLease, [id]);
    const [next] = await leasesWith(1).claim(1);
    expect(next).toMatchObject({ id, failedRuns: 0, lostRuns: 1 });
    expect(next?.token).not.toBe(lost?.token);
  });

  it('is not granted while another transaction changes the upload, which does not delay other claims', async () => {
    const [id] = await insertDue(uuidv7(), 1);
    const earlier = await api.database.begin();
    await earlier.tx.run(claimById, [id]);
    const [other] = await insertDue(uuidv7(), 1);
    expect(idsOf(await leasesWith(4).claim(2))).toEqual([other]);
    await earlier.commit();
    expect(await leasesWith(4).claim(2)).toEqual([]);
  });

  it('is granted at a cost that does not depend on the number of uploads', async () => {
    const creators = [uuidv7(), uuidv7(), uuidv7()];
    const countPages = async () =>
      api.database.transaction(async (tx) => {
        await tx.run(analyse);
        return countPagesRead(tx, claimUploads, { max: 16, max_per_organisation: 4, lease_ms: leaseMs });
      });
    for (const creator of creators) await insertDue(creator, 10);
    const few = await countPages();
    for (const creator of creators) {
      await insertDue(creator, 3_000);
      await api.database.run(insertEndedUploads, [creator, 3_000]);
    }
    expect(await countPages()).toBeLessThan(few + 50);
  });
});
