import { type Message, messages, parsePublicId, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually, uniqueName } from '@fulfilment/testing';
import type { ServerResponse } from 'node:http';
import { setUpWorker } from '../worker-setup.fixture.js';
import { aClient, deliveriesOf, deliveriesWhen, orderCreated, status } from '../webhook-worker.fixture.js';
import { isCoveredBy, deleteExpiredRevocations, isRevoked } from './access-revocations.js';

const given = setUpWorker();

const minute = 60;
const nowSeconds = () => Math.floor(Date.now() / 1000);
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);

const deleted = (clientId: string, occurredAt = new Date()) =>
  messages.clientDeleted.make({ client_id: clientId }, { occurredAt });
const disconnected = (clientId: string, creatorId: string, occurredAt = new Date()) =>
  messages.clientDisconnected.make({ client_id: clientId, creator_id: creatorId }, { occurredAt });

const readOutcome = statement('test.inbox', 'SELECT outcome FROM inbox WHERE message_id = $1');
/** Has the worker told, and returns when it has heard. */
async function tell(...told: readonly Message[]): Promise<void> {
  await given.stores.broker.publish(...told);
  for (const { id } of told)
    await eventually(
      async () => (await given.stores.database.row(readOutcome, [id])) !== undefined || undefined,
    );
}

const readSubscriptions = statement(
  'test.subscriptions-of-client',
  `SELECT creator_id, deleted_reason, secret = '' AND previous_secret IS NULL AS forgotten FROM webhook_subscriptions
   WHERE client_id = $1 ORDER BY id`,
);
const subscriptionsOf = (clientId: string) => given.stores.database.rows(readSubscriptions, [clientId]);
const endedInOne = statement(
  'test.ended-in-one',
  `SELECT count(*) AS count FROM webhook_subscriptions WHERE client_id = $1 GROUP BY deleted_at ORDER BY deleted_at`,
);
const untilEnded = (clientId: string, count: number) =>
  eventually(
    async () => (await reasonsOf(clientId)).filter((reason) => reason !== null).length === count || undefined,
  );
const reasonsOf = async (clientId: string) =>
  (await subscriptionsOf(clientId)).map(({ deleted_reason: reason }) => reason);

/** A client by a token that was issued so long ago. */
const anApp = (clientId: string, ageSeconds: number, claims: Readonly<Record<string, unknown>> = {}) =>
  aClient(given.stores, given.worker, { client_id: clientId, iat: nowSeconds() - ageSeconds, ...claims });

describe('the subscriptions of a client that is deleted', () => {
  it('end for all creators, disabled ones too, and nothing more is delivered; those of others go on', async () => {
    const clientId = uniqueName('client');
    const [one, two] = [await anApp(clientId, minute), await anApp(clientId, minute)];
    const other = await aClient(given.stores, given.worker, { creator_id: one.creatorId });
    for (const client of [one, two, other]) await client.subscribe(given.receiver.url);
    const id = await two.subscribe(given.receiver.url);
    await two.patch(id, { status: 'disabled', secret: 'another' }).expect(200);
    await tell(deleted(clientId));
    expect(await subscriptionsOf(clientId)).toEqual(
      [one, two, two].map(({ creatorId }) => ({
        creator_id: creatorId,
        deleted_reason: 'client_deleted',
        forgotten: true,
      })),
    );
    await two.get(`/${id}`).expect(404);
    await given.stores.broker.publish(orderCreated(one.creatorId), orderCreated(two.creatorId));
    await deliveriesWhen(given.stores, status('succeeded'));
    expect((await other.get()).body.data).toHaveLength(1);
    expect(given.receiver.deliveries).toHaveLength(1);
  });

  it('end however many there are, at most a thousand in a transaction', async () => {
    const clientId = uniqueName('client');
    const insert = statement(
      'test.insert-many',
      `INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status)
       SELECT gen_random_uuid(), gen_random_uuid(), $1, 'https://shop.example/', '{order.created}', 'x', 'v', 'active'
       FROM generate_series(1, 2500)`,
    );
    await given.stores.database.run(insert, [clientId]);
    const end = deleted(clientId, new Date(Date.now() + 1000));
    await tell(end);
    await untilEnded(clientId, 2500);
    expect(await given.stores.database.rows(endedInOne, [clientId])).toEqual(
      [1000, 1000, 500].map((count) => ({ count })),
    );
    await tell(end); // repeated
    expect(new Set(await reasonsOf(clientId))).toEqual(new Set(['client_deleted']));
  });

  it('get nothing from the moment their access is known to have ended, before they are ended themselves', async () => {
    const [deletionStatement, other] = [
      await anApp(uniqueName('client'), minute),
      await anApp(uniqueName('client'), minute),
    ];
    const ids = await Promise.all(
      [deletionStatement, other].map((client) => client.subscribe(given.receiver.url)),
    );
    const endedNow = statement(
      'test.ended-now',
      'INSERT INTO webhook_ended_access (client_id, ended_at) SELECT client_id, now() FROM webhook_subscriptions WHERE id = $1',
    );
    await given.stores.database.run(endedNow, [parsePublicId('whk', ids[0] ?? '')]);
    await given.stores.broker.publish(
      orderCreated(deletionStatement.creatorId),
      orderCreated(other.creatorId),
    );
    await deliveriesWhen(
      given.stores,
      (found) => found.length === 2 && found.some((row) => row.status === 'succeeded'),
    );
    given.worker.reconcile();
    await given.stores.broker.publish(orderCreated(other.creatorId));
    await deliveriesWhen(
      given.stores,
      (found) => found.filter((row) => row.status === 'succeeded').length === 2,
    );
    const waiting = (await deliveriesOf(given.stores)).filter((row) => row.status !== 'succeeded');
    expect(waiting).toMatchObject([{ status: 'pending', attempt_count: 0 }]);
    expect(given.receiver.deliveries).toHaveLength(2);
  });

  it.each([
    ['what fails is not tried again', 500, 'failed'],
    ['what was received is received', 204, 'succeeded'],
  ])('end with an attempt under way as when their owner deletes them: %s', async (_, answer, outcome) => {
    const clientId = uniqueName('client');
    const client = await anApp(clientId, minute);
    await client.subscribe(given.receiver.url);
    const waiting: ServerResponse[] = [];
    given.receiver.answerWith((response) => void waiting.push(response));
    await given.stores.broker.publish(orderCreated(client.creatorId));
    await given.receiver.waitFor(1);
    await tell(deleted(clientId));
    waiting[0]?.writeHead(answer).end();
    const [row] = await deliveriesWhen(given.stores, status(outcome));
    expect(row?.failure_reason).toBe(outcome === 'failed' ? 'subscription_deleted' : null);
    expect(given.receiver.deliveries).toHaveLength(1);
  });
});

describe('the subscriptions of a client that is disconnected', () => {
  it('end for that creator alone', async () => {
    const clientId = uniqueName('client');
    const [one, two] = [await anApp(clientId, minute), await anApp(clientId, minute)];
    for (const client of [one, two]) await client.subscribe(given.receiver.url);
    await tell(disconnected(clientId, one.creatorId));
    expect(await reasonsOf(clientId)).toEqual(['client_disconnected', null]);
    await given.stores.broker.publish(orderCreated(one.creatorId), orderCreated(two.creatorId));
    await deliveriesWhen(given.stores, status('succeeded'));
    expect(given.receiver.deliveries).toHaveLength(1);
  });

  it('may be made anew by who connects it again, and then live, however often the old end is told', async () => {
    const clientId = uniqueName('client');
    const before = await anApp(clientId, 2 * minute);
    await before.subscribe(given.receiver.url);
    const end = disconnected(clientId, before.creatorId, secondsAgo(minute));
    await tell(end);
    const again = await anApp(clientId, 0, { creator_id: before.creatorId });
    await again.subscribe(given.receiver.url);
    await tell(end);
    await tell(disconnected(clientId, before.creatorId, secondsAgo(minute)));
    expect(await reasonsOf(clientId)).toEqual(['client_disconnected', null]);
  });

  it('end when that is heard late, and those live that were made since it happened', async () => {
    const clientId = uniqueName('client');
    const before = await anApp(clientId, 2 * minute);
    const again = await anApp(clientId, 0, { creator_id: before.creatorId });
    await again.subscribe(given.receiver.url);
    await before.subscribe(given.receiver.url); // by a token that is not known yet to be revoked
    await tell(disconnected(clientId, before.creatorId, secondsAgo(minute)));
    expect(await reasonsOf(clientId)).toEqual([null, 'client_disconnected']);
  });

  it('of two ends the later one holds, whichever is heard first', async () => {
    const clientId = uniqueName('client');
    const client = await anApp(clientId, minute);
    await tell(
      disconnected(clientId, client.creatorId, secondsAgo(0)),
      disconnected(clientId, client.creatorId, secondsAgo(2 * minute)),
    );
    const { url } = given.receiver;
    await client.post({ url, events: ['order.created'], secret: 's' }).expect(403);
  });

  it('cannot be made any more by a token of the access that ended, while it is not known yet to be revoked', async () => {
    const clientId = uniqueName('client');
    const before = await anApp(clientId, 2 * minute);
    await tell(disconnected(clientId, before.creatorId, secondsAgo(minute)));
    const { url } = given.receiver;
    await before.post({ url, events: ['order.created'], secret: 's' }).expect(403);
    const elsewhere = await anApp(clientId, 2 * minute);
    await elsewhere.subscribe(url);
    expect(await reasonsOf(clientId)).toEqual([null]);
  });

  it('fall also when they are being made just then', async () => {
    const [clientId, creatorId] = [uniqueName('client'), uuidv7()];
    const insert = statement(
      'test.insert-one',
      `INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status, authorized_at)
       VALUES (gen_random_uuid(), $1, $2, 'https://shop.example/', '{order.created}', 'x', 'v', 'active', $3)`,
    );
    const waiting = statement(
      'test.waiting',
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`,
    );
    const { database, broker } = given.stores;
    const end = disconnected(clientId, creatorId);
    await database.transaction(async (tx) => {
      expect(await isRevoked(tx, clientId, creatorId, secondsAgo(minute))).toBe(false);
      await broker.publish(end);
      await eventually(async () => (await database.row(waiting)) !== undefined || undefined);
      await tx.run(insert, [creatorId, clientId, secondsAgo(minute)]);
    });
    await tell(end);
    expect(await reasonsOf(clientId)).toEqual(['client_disconnected']);
  });
});

describe('whether a subscription falls with access that ended at 12:00:10.500', () => {
  const judge = statement(
    'test.falls-with',
    `SELECT ${isCoveredBy('$1::timestamptz', '$2::timestamptz', '$3::timestamptz')} AS falls`,
  );
  it.each([
    ['a token of an earlier second falls, whenever it was used', '10:09', '10:09.900', true],
    ['… also long after', '10:09', '11:30', true],
    ['a token of a later second does not', '10:11', '10:11.001', false],
    ['… also by a clock that is behind', '10:11', '10:08', false],
    ['in the same second: used before', '10:10', '10:10.400', true],
    ['in the same second: used after', '10:10', '10:10.600', false],
  ])('%s', async (_, authorizedAt, madeAt, falls) => {
    const at = (time: string) => `2026-03-01T12:${time}Z`;
    const values = [at(authorizedAt), at(madeAt), at('10:10.500')];
    expect(await given.stores.database.row(judge, values)).toEqual({ falls });
  });
});

it('an end is remembered as long as a token may live, and forgotten then', async () => {
  const [old, young] = [uniqueName('client'), uniqueName('client')];
  await tell(deleted(old, secondsAgo(25 * 3600)), disconnected(young, uuidv7(), secondsAgo(3600)));
  await deleteExpiredRevocations(given.stores.database);
  const known = statement(
    'test.known-ends',
    'SELECT client_id FROM webhook_ended_access WHERE client_id = ANY ($1)',
  );
  expect(await given.stores.database.rows(known, [[old, young]])).toEqual([{ client_id: young }]);
});
