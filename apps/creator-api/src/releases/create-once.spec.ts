import { statement } from '@fulfilment/database';
import { deleteExpiredIdempotencyKeys } from '@fulfilment/http-service';
import { creatorApi, type CreatorApi, operator, ownerOf } from '../creator-api.fixture.js';
import { aCreator } from '../creators/creator-snapshot.fixture.js';

const countEditions = statement(
  'test.editions',
  'SELECT count(*) AS editions FROM editions WHERE creator_id = $1',
);
const countKeys = statement(
  'test.keys',
  'SELECT count(*) AS keys FROM idempotency_keys WHERE creator_id = $1',
);
const path = '/api/v1/releases';
const wish = { title: 'Tidal Maps', release_type_id: 1, ean: '2000000000015' };
const key = 'one-key';
const hour = 3_600_000;

type Claims = Readonly<Record<string, unknown>>;

describe('POST /api/v1/releases with an idempotency key', () => {
  let api: CreatorApi;
  let now: Date;
  let mine: ReturnType<typeof aCreator>;
  let connected: Claims;
  beforeAll(async () => {
    api = await creatorApi({}, () => now);
  });
  beforeEach(async () => {
    now = new Date();
    mine = aCreator('org_harbour');
    connected = { ...ownerOf('org_harbour'), creator_id: mine.id, client_id: 'one-client' };
    await api.record({ creators: [mine] });
  });
  afterAll(() => api.stop());

  const create = (body: object = wish, claims: Claims = connected, text = key) =>
    api.post(path, claims, body, { 'idempotency-key': text });
  const editions = async (id = mine.id) =>
    (await api.database.row<{ editions: number }>(countEditions, [id]))?.editions;
  const keys = async () => (await api.database.row<{ keys: number }>(countKeys, [mine.id]))?.keys;

  it('gives a repetition the first response', async () => {
    const first = await create();
    const { ean, title } = wish;
    const again = await create(
      { ean, unknown: 1, release_type_id: 1, title: ` ${title} ` },
      connected,
      `"${key}"`,
    );
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await editions()).toBe(1);
  });

  it('responds with 409 when the key comes with another body', async () => {
    await create();
    const { status, body } = await create({ ...wish, title: 'Other Maps' });
    expect(status).toBe(409);
    expect(body).toMatchObject({
      code: 'CONFLICT',
      details: [{ field: 'idempotency-key', reason: 'body_mismatch' }],
    });
    expect(await editions()).toBe(1);
  });

  it('creates one release for parallel requests', async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => create()));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(await editions()).toBe(1);
  });

  it('is another key for another client, another creator and another text', async () => {
    const sister = aCreator('org_harbour');
    await api.record({ creators: [sister] });
    const responses = await Promise.all([
      create(),
      create(wish, { ...connected, client_id: 'another-client' }),
      create({ ...wish, creator: sister.id }),
      create(wish, connected, 'another-key'),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(4);
    expect([await editions(), await editions(sister.id)]).toEqual([3, 1]);
  });

  it('shows nobody the response about a creator that is not theirs', async () => {
    await create({ ...wish, creator: mine.id });
    const foreign = { ...ownerOf('org_meridian'), client_id: 'one-client' };
    expect((await create({ ...wish, creator: mine.id }, foreign)).status).toBe(404);
    const again = await create({ ...wish, creator: mine.id }, { ...operator, client_id: 'one-client' });
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, 'true']);
  });

  it('is checked as it is for orders', async () => {
    const { status, body } = await create(wish, connected, 'k'.repeat(256));
    expect([status, body.details]).toEqual([
      400,
      [{ field: 'idempotency-key', reason: 'must be 1 to 255 visible ASCII characters' }],
    ]);
  });

  it('is remembered for 24 hours, then stands for a new request, and is deleted when none comes', async () => {
    const first = await create();
    now = new Date(now.getTime() + 24 * hour - 1);
    expect((await create()).text).toBe(first.text);
    now = new Date(now.getTime() + 1);
    const second = await create({ ...wish, title: 'Other Maps' });
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    expect(await editions()).toBe(2);
    await deleteExpiredIdempotencyKeys(api.database, now);
    expect(await keys()).toBe(1);
    await deleteExpiredIdempotencyKeys(api.database, new Date(now.getTime() + 24 * hour));
    expect(await keys()).toBe(0);
  });
});
