import { jest } from '@jest/globals';
import { type OrderSnapshot, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { creatorApi, type CreatorApi, globalAdminClaims, ownerClaims } from '../test/creator-api.fixture.js';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
import { anOrder } from '../orders/order-snapshot.fixture.js';
import { UploadProcessing } from './processing/upload-processing.job.js';
import { endUploads, insertOpenUploads } from './track-uploads.fixture.js';

const countUploads = statement('test.uploads', 'SELECT count(*) AS uploads FROM track_uploads');
const orderedRelease = (order: OrderSnapshot) => String(order.items[0]?.release_id);

describe('POST /api/v1/releases/{id}/track-upload', () => {
  let api: CreatorApi;
  const ownCreator = aCreator('org_harbour');
  const foreignCreator = aCreator('org_meridian');
  const owner = { ...ownerClaims('org_harbour'), creator_id: ownCreator.id };
  const foreignOrder = anOrder(foreignCreator.id);
  const ownOrder = anOrder(ownCreator.id);
  let release: string;
  beforeAll(async () => {
    api = await creatorApi(); // without a worker
    await api.record({ creators: [ownCreator, foreignCreator], orders: [ownOrder, foreignOrder] });
    const { body } = await api.post('/api/v1/releases', owner, { title: 'Tidal Maps', release_type_id: 1 });
    release = body.id;
  });
  afterAll(() => api.stop());

  const aTrack = (changes: object = {}) => ({
    track_uuid: uuidv7(),
    upload_url: 'https://files.example.com/track.wav?signature=1',
    ...changes,
  });
  const register = (body: object, id = release, claims: object = owner) =>
    api.post(`/api/v1/releases/${id}/track-upload`, { ...claims }, body);
  const uploads = async () => (await api.database.row<{ uploads: number }>(countUploads))?.uploads;

  it('registers a track of a release and returns its status URL', async () => {
    const track = aTrack();
    const { status, body, headers } = await register(track);
    expect(status).toBe(202);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'pending',
      workflow_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status_url: `${api.settings.BASE_URL}/creator/api/v1/track-uploads/${body.id}`,
    });
    expect(headers['location']).toBe(body.status_url);
    const read = await api.get(`/api/v1/track-uploads/${body.id}`, owner);
    expect(read.status).toBe(200);
    expect(read.body).toEqual({
      ...body,
      release_id: release,
      track_uuid: track.track_uuid,
      audio: null,
      failure: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: read.body.created_at,
    });
  });

  it('returns the same registration for the same release, track and URL, even to concurrent requests', async () => {
    const track = aTrack();
    const before = (await uploads()) ?? 0;
    const responses = await Promise.all(Array.from({ length: 12 }, () => register(track)));
    expect(responses.map(({ status }) => status)).toEqual(Array(12).fill(202));
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
    expect(await uploads()).toBe(before + 1);
    const repeated = await register({ ...track, track_uuid: track.track_uuid.toUpperCase() });
    expect(repeated.body).toEqual(responses[0]?.body);
  });

  it('wakes the processing of this replica after the commit of a new registration', async () => {
    const uploadsAtWake: Promise<number | undefined>[] = [];
    const wake = jest.spyOn(api.app.get(UploadProcessing), 'wake').mockImplementation(() => {
      uploadsAtWake.push(uploads());
    });
    const before = (await uploads()) ?? 0;
    const track = aTrack();
    for (const _ of [1, 2]) await register(track);
    expect(await Promise.all(uploadsAtWake)).toEqual([before + 1]);
    wake.mockRestore();
  });

  it('creates another registration for another track, URL or release, and after the first upload has ended', async () => {
    const track = aTrack();
    const ids = [
      await register(track),
      await register({ ...track, upload_url: `${track.upload_url}2` }),
      await register({ ...track, track_uuid: uuidv7() }),
      await register(track, orderedRelease(ownOrder)),
    ].map(({ body }) => body.id);
    await api.database.run(endUploads);
    ids.push((await register(track)).body.id);
    expect(new Set(ids).size).toBe(5);
  });

  it('accepts a catalogue release in an order that is visible to the caller', async () => {
    expect((await register(aTrack(), orderedRelease(ownOrder))).status).toBe(202);
    expect((await register(aTrack(), orderedRelease(foreignOrder), globalAdminClaims)).status).toBe(202);
  });

  it('responds with 404 to a release that is not visible to the caller', async () => {
    const before = await uploads();
    for (const id of [uuidv7(), orderedRelease(foreignOrder)]) {
      const { status, body } = await register(aTrack(), id);
      expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    }
    expect(await uploads()).toBe(before);
  });

  it.each([
    ['a track that is not a UUID', { track_uuid: 'one' }, 'track_uuid'],
    ['a URL without a scheme', { upload_url: 'track.wav' }, 'upload_url'],
    ['an http URL', { upload_url: 'http://files.example.com/track.wav' }, 'upload_url'],
    ['an ftp URL', { upload_url: 'ftp://files.example.com/track.wav' }, 'upload_url'],
    ['the URL of a file on the server', { upload_url: 'file:///etc/passwd' }, 'upload_url'],
    ['a URL with credentials', { upload_url: 'https://me:secret@files.example.com/' }, 'upload_url'],
    ['a URL with a private address', { upload_url: 'https://10.0.0.8/track.wav' }, 'upload_url'],
    ['the URL of the metadata service of clouds', { upload_url: 'https://169.254.169.254/' }, 'upload_url'],
  ])('rejects %s', async (_what, changes, field) => {
    const { status, body } = await register(aTrack(changes));
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field }] });
  });

  it.each([
    ['a missing URL', undefined, 'must be a string'],
    ['the URL null', null, 'must be a string'],
    ['a URL that is a number', 7, 'must be a string'],
    ['an empty URL', '', 'must not be empty'],
    ['a URL with U+0000', 'https://a.example/\u0000', 'must not contain control characters'],
    ['a URL with a line break', 'https://a.example/\na', 'must not contain control characters'],
    ['a URL of 2049 characters', `https://a.example/${'a'.repeat(2031)}`, 'must be at most 2048 characters'],
  ])('rejects %s with the reason', async (_what, url, reason) => {
    const { body } = await register({ ...aTrack(), upload_url: url });
    expect(body.details).toEqual([{ field: 'upload_url', reason }]);
  });

  it('accepts a URL of 2048 characters with emoji', async () => {
    expect((await register(aTrack({ upload_url: `https://a.example/${'🎧'.repeat(2030)}` }))).status).toBe(
      202,
    );
  });

  it('responds with 409 to the 1001st open upload of a creator, and to the 501st track of a release', async () => {
    const other = aCreator('org_other');
    await api.record({ creators: [other] });
    const claims = { ...ownerClaims('org_other'), creator_id: other.id };
    const newRelease = async () =>
      String((await api.post('/api/v1/releases', claims, { title: 'Many', release_type_id: 1 })).body.id);
    const [full, next] = [await newRelease(), await newRelease()];
    await api.database.run(insertOpenUploads, [other.id, full, 500]);
    const response = await register(aTrack(), full, claims);
    expect([response.status, response.body.code]).toEqual([409, 'CONFLICT']);
    expect((await register(aTrack(), next, claims)).status).toBe(202);
    await api.database.run(insertOpenUploads, [other.id, null, 499]); // 1000 with the 501 uploads above
    expect((await register(aTrack(), next, claims)).status).toBe(409);
  });

  it('responds with 409 to the 5001st upload of a release, although all earlier ones have failed', async () => {
    const { body } = await api.post('/api/v1/releases', owner, { title: 'Many', release_type_id: 1 });
    await api.database.run(insertOpenUploads, [ownCreator.id, body.id, 4_999]);
    await api.database.run(endUploads);
    const responses = [await register(aTrack(), body.id), await register(aTrack(), body.id)];
    expect(responses.map(({ status }) => status)).toEqual([202, 409]);
    await api.database.run(endUploads);
  });

  describe('with a host name that may resolve to a private address', () => {
    const resolvedUrls: string[] = [];
    beforeAll(() => {
      api.app.get(GuardedClient).findAddressProblem = (url) => {
        resolvedUrls.push(url);
        const isPrivate = url.includes('private');
        return Promise.resolve(isPrivate ? 'must not resolve to a private or reserved address' : undefined);
      };
    });
    beforeEach(() => resolvedUrls.splice(0));
    const privateName = () => aTrack({ upload_url: 'https://private.example/track.wav' });

    it('does not resolve the name for a release that is not visible to the caller', async () => {
      expect((await register(privateName(), uuidv7())).status).toBe(404);
      expect((await register(privateName(), release, ownerClaims('org_meridian'))).status).toBe(404);
      expect(resolvedUrls).toEqual([]);
    });

    it('does not resolve the name for a creator at the limit of open uploads', async () => {
      await api.database.run(insertOpenUploads, [ownCreator.id, release, 1_000]);
      expect((await register(privateName())).status).toBe(409);
      expect(resolvedUrls).toEqual([]);
      await api.database.run(endUploads);
    });

    it('resolves no more names for a caller that sent twenty private ones, but still for other callers', async () => {
      const prober = { ...owner, client_id: 'a-prober' };
      // The time window of the limit must not end during the test.
      const time = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
      try {
        for (let count = 0; count < 20; count += 1)
          expect((await register(privateName(), release, prober)).status).toBe(400);
        resolvedUrls.splice(0);
        const limited = await register(privateName(), release, prober);
        expect([limited.status, limited.body.code]).toEqual([429, 'RATE_LIMITED']);
        expect(resolvedUrls).toEqual([]);
        expect((await register(aTrack())).status).toBe(202);
      } finally {
        time.mockRestore();
      }
    });
  });
});
