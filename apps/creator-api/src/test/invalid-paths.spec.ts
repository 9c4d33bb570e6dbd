import { creatorApi, type CreatorApi, ownerClaims } from './creator-api.fixture.js';

const owner = ownerClaims('org_harbour');

describe('a request with errors in its path and elsewhere', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi();
  });
  afterAll(() => api.stop());

  it.each([
    ['stats/sales?period=2026-13', 'period'],
    ['stats/royalties', 'period'],
    ['stats/series?from=2026-13&to=2026-13', 'from', 'to'],
    ['ledger?period=2026-13&limit=0', 'period', 'limit'],
    ['apps?page=0', 'page'],
    ['statements?per_page=101', 'per_page'],
  ])('is a 400 that names all of them, for %s', async (path, ...fields) => {
    const { status, body } = await api.get(`/api/v1/creators/not-a-uuid/${path}`, owner);
    expect(status).toBe(400);
    expect(body.details.map(({ field }: { field: string }) => field).sort()).toEqual(
      [...fields, 'uuid'].sort(),
    );
  });

  it('is a 400 that names all of them, for a track upload', async () => {
    const { status, body } = await api.post('/api/v1/releases/not-a-uuid/track-upload', owner, {});
    expect(status).toBe(400);
    expect(body.details.map(({ field }: { field: string }) => field)).toEqual([
      'track_uuid',
      'upload_url',
      'id',
    ]);
  });

  it('is a 400 that names the path once if only the path is invalid', async () => {
    const { status, body } = await api.get('/api/v1/creators/not-a-uuid/stats/sales?period=2026-01', owner);
    expect([status, body.details]).toEqual([400, [{ field: 'uuid', reason: 'must be a UUID' }]]);
  });
});
