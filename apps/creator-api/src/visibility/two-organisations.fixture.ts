import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
import { closeMonths } from '../ledger/close-months.js';
import { issueStatements } from '../statements/issue-statements.js';
import { anOrder, orderMessage, paid, transitioned } from '../orders/order-snapshot.fixture.js';
import { recordOrderEvents } from '../orders/timeline/record-order-events.js';
import { type CreatorApi, globalAdminClaims } from '../test/creator-api.fixture.js';

const app = { client_id: 'app', name: 'App', first_party: false, connected_at: '2026-01-02T03:04:05.678Z' };
export const harbourCreator = aCreator('org_harbour', { apps: [app] });
export const meridianCreator = aCreator('org_meridian', { apps: [app] });
const unregistered = aCreator('org_unregistered'); // its registration never arrives
export const harbourOrder = paid(anOrder(harbourCreator.id, { client_id: 'app' }));
const meridianOrder = paid(anOrder(meridianCreator.id, { client_id: 'app' }));
export const orderOfUnregistered = paid(anOrder(unregistered.id));

/** Ids of resources of an organisation; tests also pass ids that do not exist. */
export interface Resources {
  readonly creator: string;
  readonly order: string;
  readonly orderedRelease: string;
  readonly createdRelease: string;
  readonly upload: string;
}

const addFeedEntries = statement(
  'test.add-feed-entries',
  'INSERT INTO order_feed_entries (order_id, creator_id) SELECT id, creator_id FROM orders',
);
export const upload = { track_uuid: uuidv7(), upload_url: 'https://files.example.com/track.wav' };

/** Records two organisations with rows in each table that requests read. Returns the resources of each. */
export async function recordTwoOrganisations(
  api: CreatorApi,
): Promise<{ readonly harbour: Resources; readonly meridian: Resources }> {
  await api.record({
    creators: [harbourCreator, meridianCreator],
    orders: [harbourOrder, meridianOrder, orderOfUnregistered],
  });
  await closeMonths(api.database, { closeDay: 5, now: new Date('2026-04-05T00:00:00.000Z') });
  for (const { id } of [harbourCreator, meridianCreator]) await issueStatements(api.database, id);
  await api.database.run(addFeedEntries);
  const shipments = [harbourOrder, meridianOrder].map((order) =>
    orderMessage(transitioned(order, 'shipped')),
  );
  await api.database.transaction((tx) => recordOrderEvents(tx, shipments));
  const [harbour, meridian] = await Promise.all([
    createResources(api, harbourCreator.id, harbourOrder),
    createResources(api, meridianCreator.id, meridianOrder),
  ]);
  return { harbour, meridian };
}

/** Creates a release and a track upload. */
async function createResources(
  api: CreatorApi,
  creator: string,
  { id: order, items: [item] }: typeof harbourOrder,
): Promise<Resources> {
  const orderedRelease = item?.release_id ?? '';
  const release = { title: 'Tidal Maps', release_type_id: 1, creator };
  const [uploaded, created] = [
    await api.post(`/api/v1/releases/${orderedRelease}/track-upload`, globalAdminClaims, upload),
    await api.post('/api/v1/releases', globalAdminClaims, release),
  ];
  return { creator, order, orderedRelease, createdRelease: created.body.id, upload: uploaded.body.id };
}
