import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { creatorApi, type CreatorApi, ownerClaims } from '../test/creator-api.fixture.js';
import { aCreator } from '../creators/creator-snapshot.fixture.js';

const owner = ownerClaims('org_harbour');
const endUpload = statement(
  'test.end-upload',
  `UPDATE track_uploads SET status = $2, upload_url = NULL, due_at = NULL,
     audio = CASE WHEN $2 = 'completed' THEN $3::jsonb END, failure = CASE WHEN $2 = 'failed' THEN $3::jsonb END
   WHERE id = $1`,
);
const audio = {
  container: 'WAV',
  codec: 'PCM',
  sample_rate: 44_100,
  bit_depth: 16,
  channels: 2,
  duration_seconds: 214,
  loudness: null,
};
const failure = { code: 'too_short', message: 'The audio is shorter than 10 seconds.' };

describe('the releases of a creator', () => {
  let api: CreatorApi;
  const creator = aCreator('org_harbour');
  const siblingCreator = aCreator('org_harbour');

  beforeAll(async () => {
    api = await creatorApi();
    await api.record({ creators: [creator, siblingCreator] });
  });
  afterAll(() => api.stop());

  const create = async (title: string, releasedBy = creator) => {
    const body = { title, release_type_id: 1, creator: releasedBy.id };
    return String((await api.post('/api/v1/releases', owner, body)).body.id);
  };
  const upload = async (release: string, track = uuidv7()) => {
    const body = { track_uuid: track, upload_url: `https://127.0.0.1:9/${uuidv7()}.wav` };
    return String((await api.post(`/api/v1/releases/${release}/track-upload`, owner, body)).body.id);
  };
  const complete = (id: string) => api.database.run(endUpload, [id, 'completed', JSON.stringify(audio)]);
  const fail = (id: string) => api.database.run(endUpload, [id, 'failed', JSON.stringify(failure)]);
  const read = async (id: string) => (await api.get(`/api/v1/releases/${id}`, owner)).body;

  it('are listed newest first, each on one page, without releases of other creators', async () => {
    const titles = ['One', 'Two', 'Three'];
    const ids: string[] = [];
    for (const title of titles) ids.unshift(await create(title));
    await create('Other', siblingCreator);
    const pages = await Promise.all(
      [1, 2, 3].map((page) =>
        api.get(`/api/v1/releases?creator=${creator.id}&per_page=2&page=${page}`, owner),
      ),
    );
    expect(pages.flatMap(({ body }) => body.data.map((release: { id: string }) => release.id))).toEqual(ids);
    expect(pages.map(({ body }) => body.meta.total)).toEqual([3, 3, 3]);
    expect(pages[2]?.body.data).toEqual([]);
  });

  it('show the processing state of their tracks, by the upload of each track that was registered last', async () => {
    const id = await create('Tidal Maps');
    expect((await read(id)).tracks).toEqual({ pending: 0, processing: 0, completed: 0, failed: 0 });
    const track = uuidv7();
    await fail(await upload(id, track));
    const replacement = await upload(id, track);
    await complete(replacement);
    const failed = await upload(id);
    await fail(failed);
    const waiting = await upload(id);
    const detail = await read(id);
    expect(detail.tracks).toEqual({ pending: 1, processing: 0, completed: 1, failed: 1 });
    expect(detail.track_uploads.map((shown: { id: string }) => shown.id)).toEqual([
      waiting,
      failed,
      replacement,
    ]);
    expect(detail.track_uploads).toMatchObject([{ audio: null }, { failure }, { audio }]);
    const { track_uploads: _, ...listed } = detail;
    const page = await api.get(`/api/v1/releases?creator=${creator.id}`, owner);
    expect(page.body.data).toContainEqual(listed);
  });

  it('are returned with the members of the response to their creation', async () => {
    const body = { title: 'Slow Signal', release_type_id: 2, ean: '2000000000015', creator: creator.id };
    const created = (await api.post('/api/v1/releases', owner, body)).body;
    expect(await read(created.id)).toMatchObject({ ...created, creator: creator.id });
  });
});
