import { messages } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { creatorApi, type CreatorApi, globalAdminClaims, ownerClaims } from '../test/creator-api.fixture.js';
import { aCreator } from './creator-snapshot.fixture.js';

const creatorRow = statement(
  'test.creator-row',
  'SELECT version, row_to_json(creators)::text AS row FROM creators WHERE id = $1',
);

describe('GET /api/v1/creators', () => {
  let api: CreatorApi;
  const creators = [1, 2, 3, 4, 5].map((day) =>
    aCreator(day === 3 ? 'org_meridian' : 'org_harbour', {
      registered_at: `2026-01-0${day}T00:00:00.000Z`,
      test: day === 3,
    }),
  );
  const newestFirst = creators.map((creator) => creator.id).toReversed();

  beforeAll(async () => {
    api = await creatorApi();
    await api.record({ creators });
  });
  afterAll(() => api.stop());

  const list = async (query: string, claims: Readonly<Record<string, unknown>>) => {
    const { body } = await api.get(`/api/v1/creators${query}`, claims);
    return { uuids: body.data.map((creator: { uuid: string }) => creator.uuid), meta: body.meta };
  };

  it('lists the newest creator first, in pages, with the exact total', async () => {
    expect(await list('?per_page=2', globalAdminClaims)).toEqual({
      uuids: newestFirst.slice(0, 2),
      meta: { page: 1, per_page: 2, total: 5 },
    });
    expect((await list('?per_page=2&page=3', globalAdminClaims)).uuids).toEqual(newestFirst.slice(4));
    expect(await list('?page=10000&per_page=100', globalAdminClaims)).toEqual({
      uuids: [],
      meta: { page: 10_000, per_page: 100, total: 5 },
    });
    expect((await list('', ownerClaims('org_harbour'))).meta.total).toBe(4);
  });

  it('returns livemode false for a test creator, and no livemode for a live one', async () => {
    const [test, live] = await Promise.all(
      ['org_meridian', 'org_harbour'].map((org) => api.get('/api/v1/creators', ownerClaims(org))),
    );
    expect(test?.body.data).toEqual([{ uuid: creators[2]?.id, org_id: 'org_meridian', livemode: false }]);
    expect(live?.body.data[0]).not.toHaveProperty('livemode');
  });

  it('lists a creator in the organisation of its newest version, even if an older version arrives later', async () => {
    const creator = aCreator('org_seller');
    await api.record({ creators: [creator] });
    await api.record({ creators: [{ ...creator, version: 3, organisation_id: 'org_buyer' }] });
    await api.record({ creators: [{ ...creator, version: 2 }] });
    expect((await list('', ownerClaims('org_buyer'))).uuids).toEqual([creator.id]);
    expect((await list('', ownerClaims('org_seller'))).meta.total).toBe(0);
  });

  it('lists a redacted creator, whose name is no longer stored', async () => {
    const creator = aCreator('org_redacted');
    await api.record({ creators: [creator] });
    const redacted = { ...creator, version: 2, name: null, payment_method: null };
    await api.broker.publish(messages.creatorChanged.make({ creator: redacted }, { occurredAt: new Date() }));
    const row = await eventually(async () => {
      const stored = await api.database.row<{ version: number; row: string }>(creatorRow, [creator.id]);
      return stored?.version === 2 ? stored.row : undefined;
    });
    expect(row).not.toContain(creator.name);
    expect((await list('', ownerClaims('org_redacted'))).uuids).toEqual([creator.id]);
  });
});
