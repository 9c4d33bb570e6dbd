import { jest } from '@jest/globals';
import { uuidv7 } from '@fulfilment/contracts';
import type { Statement } from '@fulfilment/database';
import { registeredRoutes } from '@fulfilment/testing/reference';
import { creatorApi, type CreatorApi, globalAdminClaims, ownerClaims } from '../test/creator-api.fixture.js';
import {
  harbourCreator,
  harbourOrder,
  orderOfUnregistered,
  recordTwoOrganisations,
  type Resources,
  upload,
} from './two-organisations.fixture.js';

type Claims = Readonly<Record<string, unknown>>;
const insiders: [string, Claims][] = [
  ['an owner', ownerClaims('org_harbour')],
  ['an admin', { org_id: 'org_harbour', org_role: 'admin' }],
  ['a member', { org_id: 'org_harbour', org_role: 'member' }],
  ['a global admin', globalAdminClaims],
];
const outsiders: [string, Claims][] = [
  ['an owner of another organisation', ownerClaims('org_meridian')],
  ['an owner of no organisation', { org_role: 'owner' }],
  ['a caller with an unknown role', { org_id: 'org_harbour', org_role: 'auditor' }],
  ['a caller without a role in the organisation', { org_id: 'org_harbour' }],
  ['a caller without an organisation', {}],
  ['an owner of the organisation with an empty id', { org_id: '', org_role: 'owner' }],
  ['an owner of an organisation with SQL in its id', { org_id: "org_harbour' OR '1'='1", org_role: 'owner' }],
];

type SendRequest = (api: CreatorApi, claims: Claims) => Promise<{ status: number; body: unknown }>;

const listOfCreators = 'get /api/v1/creators';
/** A request of every operation. The last test fails if an operation is missing here. */
const operations: Record<string, (resources: Resources) => SendRequest> = {
  // The list itself never responds with 404; a list without the creator is treated as a 404.
  [listOfCreators]:
    ({ creator }) =>
    async (api, claims) => {
      const { status, body } = await api.get('/api/v1/creators', claims);
      if (status !== 200) return { status, body };
      const sees = body.data.some(({ uuid }: { uuid: string }) => uuid === creator);
      return { status: sees ? 200 : 404, body };
    },
  'get /api/v1/orders': ({ creator }) => get(`/api/v1/orders?creator=${creator}`),
  'get /api/v1/order-stream':
    ({ creator }) =>
    async (api, claims) => {
      const path = `/api/v1/order-stream?creator=${creator}`;
      const { response, leave } = await api.openStream(path, claims);
      const body: unknown = response.status === 200 ? undefined : await response.json();
      leave();
      return { status: response.status, body };
    },
  'get /api/v1/orders/{uuid}': ({ order }) => get(`/api/v1/orders/${order}`),
  'get /api/v1/orders/export': ({ creator }) => get(`/api/v1/orders/export?creator=${creator}`),
  'get /api/v1/orders/{uuid}/timeline': ({ order }) => get(`/api/v1/orders/${order}/timeline`),
  'get /api/v1/creators/{uuid}/stats/sales': ({ creator }) =>
    get(`/api/v1/creators/${creator}/stats/sales?period=2026-03`),
  'get /api/v1/creators/{uuid}/stats/royalties': ({ creator }) =>
    get(`/api/v1/creators/${creator}/stats/royalties?period=2026-03`),
  'get /api/v1/creators/{uuid}/ledger': ({ creator }) =>
    get(`/api/v1/creators/${creator}/ledger?period=2026-03`),
  'get /api/v1/creators/{uuid}/stats/series': ({ creator }) =>
    get(`/api/v1/creators/${creator}/stats/series?group_by=release`),
  'get /api/v1/creators/{uuid}/apps': ({ creator }) => get(`/api/v1/creators/${creator}/apps`),
  'get /api/v1/creators/{uuid}/statements': ({ creator }) => get(`/api/v1/creators/${creator}/statements`),
  'get /api/v1/creators/{uuid}/statements/{number}': ({ creator }) =>
    get(`/api/v1/creators/${creator}/statements/1`),
  'get /api/v1/creators/{uuid}/statements/{number}/csv': ({ creator }) =>
    get(`/api/v1/creators/${creator}/statements/1/csv`),
  'get /api/v1/releases': ({ creator }) => get(`/api/v1/releases?creator=${creator}`),
  'get /api/v1/releases/{id}': ({ createdRelease }) => get(`/api/v1/releases/${createdRelease}`),
  'post /api/v1/releases': ({ creator }) =>
    post('/api/v1/releases', { title: 'Tidal Maps', release_type_id: 1, creator }),
  'post /api/v1/releases/{id}/track-upload': ({ orderedRelease }) =>
    post(`/api/v1/releases/${orderedRelease}/track-upload`, upload),
  'get /api/v1/track-uploads/{id}': ({ upload: id }) => get(`/api/v1/track-uploads/${id}`),
};

function get(path: string): SendRequest {
  return (api, claims) => api.get(path, claims);
}

function post(path: string, body: object): SendRequest {
  return (api, claims) => api.post(path, claims, body);
}

/** Sends a request of an owner of Harbour. Returns the response and the names of its statements. */
async function recordStatements(api: CreatorApi, send: SendRequest) {
  const transactions: string[][] = [];
  const transaction = api.database.transaction.bind(api.database);
  const spy = jest.spyOn(api.database, 'transaction').mockImplementation((work, options) => {
    const names: string[] = [];
    transactions.push(names);
    const named = (statement: Statement): Statement => {
      names.push(statement.name);
      return statement;
    };
    return transaction(
      (tx) =>
        work({
          rows: (statement, values) => tx.rows(named(statement), values),
          row: (statement, values) => tx.row(named(statement), values),
          run: (statement, values) => tx.run(named(statement), values),
          awaitAtCommit: (...last) => tx.awaitAtCommit(...last),
          afterCommit: (callback) => tx.afterCommit(callback),
        }),
      options,
    );
  });
  try {
    const { status, body } = await send(api, ownerClaims('org_harbour'));
    // Ignores background work, such as the outbox relay.
    const statements = transactions.filter(([first]) => first === 'visibility.set-role').flat();
    return { status, body, statements };
  } finally {
    spy.mockRestore();
  }
}

describe('the visibility of resources to callers', () => {
  let api: CreatorApi;
  let harbour: Resources;
  let meridian: Resources;
  beforeAll(async () => {
    api = await creatorApi();
    ({ harbour, meridian } = await recordTwoOrganisations(api));
  });
  afterAll(() => api.stop());

  describe.each(Object.entries(operations))('%s', (route, requestFor) => {
    it.each(insiders)('responds with success to %s', async (_who, claims) => {
      expect((await requestFor(harbour)(api, claims)).status).toBeLessThan(300);
    });

    it.each(outsiders)('responds with 404 to %s', async (_who, claims) => {
      const { status, body } = await requestFor(harbour)(api, claims);
      expect(status).toBe(404);
      expect(JSON.stringify(body)).not.toContain(harbourCreator.id);
      expect(JSON.stringify(body)).not.toContain(harbourOrder.id);
    });

    it('rejects a token of another API', async () => {
      const { status, body } = await requestFor(harbour)(api, {
        ...globalAdminClaims,
        aud: 'https://suite.localhost/store',
      });
      expect(status).toBe(401);
      expect(body).toMatchObject({ code: 'UNAUTHORIZED' });
    });

    if (route === listOfCreators) return; // it has no id
    it('responds the same, after the same statements, to a foreign and to a missing resource', async () => {
      const missingResources = {
        creator: uuidv7(),
        order: uuidv7(),
        orderedRelease: uuidv7(),
        createdRelease: uuidv7(),
        upload: uuidv7(),
      };
      const [foreignResponse, missing] = [
        await recordStatements(api, requestFor(meridian)),
        await recordStatements(api, requestFor(missingResources)),
      ];
      expect(foreignResponse).toEqual(missing);
      expect(foreignResponse.status).toBe(404);
      expect(foreignResponse.statements.length).toBeGreaterThan(0);
    });
  });

  it('lists only the creators of the caller, with their exact number', async () => {
    const { body } = await api.get('/api/v1/creators', ownerClaims('org_harbour'));
    expect(body).toEqual({
      data: [{ uuid: harbourCreator.id, org_id: 'org_harbour' }],
      meta: { page: 1, per_page: 25, total: 1 },
    });
    expect((await api.get('/api/v1/creators', globalAdminClaims)).body.meta.total).toBe(2);
    const withoutOrganisation = await api.get('/api/v1/creators', {});
    expect([withoutOrganisation.status, withoutOrganisation.body]).toEqual([
      200,
      { data: [], meta: { page: 1, per_page: 25, total: 0 } },
    ]);
  });

  it('shows an order of an unregistered creator to a global admin only', async () => {
    expect((await api.get(`/api/v1/orders/${orderOfUnregistered.id}`, globalAdminClaims)).status).toBe(200);
    expect(
      (await api.get(`/api/v1/orders/${orderOfUnregistered.id}`, ownerClaims('org_unregistered'))).status,
    ).toBe(404);
  });

  it('covers every operation of the API', () => {
    const routes = registeredRoutes(api.app.getHttpAdapter().getInstance(), '/creator');
    expect(routes.toSorted()).toEqual(Object.keys(operations).toSorted());
  });
});
