import { messages, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { creatorApi, type CreatorApi, globalAdminClaims, ownerClaims } from '../test/creator-api.fixture.js';
import { aCreator } from '../creators/creator-snapshot.fixture.js';

const countEditions = statement('test.editions', 'SELECT count(*) AS editions FROM editions');
const path = '/api/v1/releases';

describe('POST /api/v1/releases', () => {
  let api: CreatorApi;
  const connectedCreator = aCreator('org_harbour');
  const siblingCreator = aCreator('org_harbour');
  const foreignCreator = aCreator('org_meridian');
  const connectedClaims = { ...ownerClaims('org_harbour'), creator_id: connectedCreator.id };
  const valid = { title: 'Tidal Maps', release_type_id: 1, ean: '2000000000015' };

  beforeAll(async () => {
    api = await creatorApi();
    await api.record({ creators: [connectedCreator, siblingCreator, foreignCreator] });
  });
  afterAll(() => api.stop());

  const editions = async () => (await api.database.row<{ editions: number }>(countEditions))?.editions;
  const publishedEdition = (id: string) =>
    eventually(
      () =>
        api.broker.published.flatMap((message) =>
          messages.editionCreated.is(message) && message.data.edition.id === id ? [message.data.edition] : [],
        )[0],
    );

  it('creates a release of the connected creator and publishes edition.created', async () => {
    const { status, body } = await api.post(path, connectedClaims, { ...valid, colour: 'ignored' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...valid,
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await publishedEdition(body.id)).toEqual({ ...body, creator_id: connectedCreator.id });
  });

  it.each([
    ['the creator that the caller names instead of the connected one', connectedClaims, siblingCreator.id],
    ['the creator that a global admin names', globalAdminClaims, foreignCreator.id],
    [
      'the creator that a caller without a connected creator names',
      ownerClaims('org_harbour'),
      connectedCreator.id,
    ],
  ])('creates a release of %s', async (_what, claims, creator) => {
    const { status, body } = await api.post(path, claims, { ...valid, creator });
    expect(status).toBe(201);
    expect(await publishedEdition(body.id)).toMatchObject({ creator_id: creator });
  });

  it('trims and normalises the title, counts code points, and accepts null as no EAN', async () => {
    const decomposed = 'e\u0301'.repeat(60);
    const { body } = await api.post(path, connectedClaims, {
      ...valid,
      title: `  ${decomposed} `,
      ean: null,
    });
    expect(body).toMatchObject({ title: 'é'.repeat(60), ean: null });
    const emoji = await api.post(path, connectedClaims, { ...valid, title: '🎶'.repeat(60), ean: undefined });
    expect(emoji.status).toBe(201);
    expect(emoji.body.ean).toBeNull();
  });

  it.each([
    ['a blank title', { title: ' \u00a0 ' }, 'title'],
    ['a title of 61 characters', { title: '🎶'.repeat(61) }, 'title'],
    ['a title with a control character', { title: 'a\u0000b' }, 'title'],
    ['null as type', { release_type_id: null }, 'release_type_id'],
    ['type 1.5', { release_type_id: 1.5 }, 'release_type_id'],
    ['type "1"', { release_type_id: '1' }, 'release_type_id'],
    ['a creator that is not a UUID', { creator: 'me' }, 'creator'],
  ])('rejects %s', async (_what, changes, field) => {
    const { status, body } = await api.post(path, connectedClaims, { ...valid, ...changes });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field }] });
  });

  it('requires `creator` from a caller without a connected creator', async () => {
    for (const claims of [ownerClaims('org_harbour'), globalAdminClaims]) {
      const { status, body } = await api.post(path, claims, valid);
      expect(status).toBe(400);
      expect(body.details).toEqual([expect.objectContaining({ field: 'creator' })]);
    }
  });

  it.each([
    ['belongs to another organisation', connectedClaims, foreignCreator.id],
    ['does not exist', globalAdminClaims, uuidv7()],
    [
      'belongs to an organisation, if the token names no organisation',
      { org_role: 'owner' },
      connectedCreator.id,
    ],
  ])('responds with 404 to a creator that %s', async (_what, claims, creator) => {
    const before = await editions();
    const { status, body } = await api.post(path, claims, { ...valid, creator });
    expect(status).toBe(404);
    expect(body.code).toBe('NOT_FOUND');
    expect(await editions()).toBe(before);
  });
});
