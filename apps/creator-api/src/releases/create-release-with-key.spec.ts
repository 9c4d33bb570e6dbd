import { statement } from '@fulfilment/database';
import { creatorApi, type CreatorApi, globalAdminClaims, ownerClaims } from '../test/creator-api.fixture.js';
import { aCreator } from '../creators/creator-snapshot.fixture.js';

const countEditions = statement(
  'test.editions',
  'SELECT count(*) AS editions FROM editions WHERE creator_id = $1',
);
const path = '/api/v1/releases';
const release = { title: 'Tidal Maps', release_type_id: 1, ean: '2000000000015' };
const key = 'one-key';
const hourMs = 3_600_000;

type Claims = Readonly<Record<string, unknown>>;

describe('POST /api/v1/releases with an idempotency key', () => {
  let api: CreatorApi;
  let now: Date;
  let connectedCreator: ReturnType<typeof aCreator>;
  let connectedClaims: Claims;
  beforeAll(async () => {
    api = await creatorApi({}, () => now);
  });
  beforeEach(async () => {
    now = new Date();
    connectedCreator = aCreator('org_harbour');
    connectedClaims = {
      ...ownerClaims('org_harbour'),
      creator_id: connectedCreator.id,
      client_id: 'one-client',
    };
    await api.record({ creators: [connectedCreator] });
  });
  afterAll(() => api.stop());

  const create = (body: object = release, claims: Claims = connectedClaims, sentKey = key) =>
    api.post(path, claims, body, { 'idempotency-key': sentKey });
  const editions = async (id = connectedCreator.id) =>
    (await api.database.row<{ editions: number }>(countEditions, [id]))?.editions;

  it('returns the first response to a repeated request, even if its body is formatted differently', async () => {
    const first = await create();
    const { ean, title } = release;
    const repeated = await create(
      { ean, unknown: 1, release_type_id: 1, title: ` ${title} ` },
      connectedClaims,
      `"${key}"`,
    );
    expect([first.status, repeated.status]).toEqual([201, 201]);
    expect(repeated.text).toBe(first.text);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(repeated.headers['idempotent-replayed']).toBe('true');
    expect(await editions()).toBe(1);
  });

  it('responds with 409 when the key was used with another body', async () => {
    await create();
    const { status, body } = await create({ ...release, title: 'Other Maps' });
    expect(status).toBe(409);
    expect(body).toMatchObject({
      code: 'CONFLICT',
      details: [{ field: 'idempotency-key', reason: 'body_mismatch' }],
    });
    expect(await editions()).toBe(1);
  });

  it('creates one release for concurrent requests', async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => create()));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(await editions()).toBe(1);
  });

  it('distinguishes keys by client, creator and text', async () => {
    const siblingCreator = aCreator('org_harbour');
    await api.record({ creators: [siblingCreator] });
    const responses = await Promise.all([
      create(),
      create(release, { ...connectedClaims, client_id: 'another-client' }),
      create({ ...release, creator: siblingCreator.id }),
      create(release, connectedClaims, 'another-key'),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(4);
    expect([await editions(), await editions(siblingCreator.id)]).toEqual([3, 1]);
  });

  it('does not return a stored response about a creator that the caller may not see', async () => {
    await create({ ...release, creator: connectedCreator.id });
    const foreignClaims = { ...ownerClaims('org_meridian'), client_id: 'one-client' };
    expect((await create({ ...release, creator: connectedCreator.id }, foreignClaims)).status).toBe(404);
    const repeated = await create(
      { ...release, creator: connectedCreator.id },
      { ...globalAdminClaims, client_id: 'one-client' },
    );
    expect([repeated.status, repeated.headers['idempotent-replayed']]).toEqual([201, 'true']);
  });

  it('keeps a key for 24 hours, and then accepts it for a new request', async () => {
    const first = await create();
    now = new Date(now.getTime() + 24 * hourMs - 1);
    expect((await create()).text).toBe(first.text);
    now = new Date(now.getTime() + 1);
    const second = await create({ ...release, title: 'Other Maps' });
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    expect(await editions()).toBe(2);
  });
});
