import { type Message, messages, parsePublicId, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { blocksRead, executedPlan, untilLockWaits } from '@fulfilment/database/testing';
import { eventually, publishedMessages, uniqueName } from '@fulfilment/testing';
import { z } from 'zod';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { deliveriesOf, orderCreated, haveStatuses } from '../../test/webhook-worker.fixture.js';
import {
  accessNotRevokedSql,
  issuedBeforeRevocationSql,
  deleteExpiredRevocations,
  lockAndCheckRevoked,
} from './access-revocations.js';

const given = setUpWorker();

const minuteSeconds = 60;
const nowSeconds = () => Math.floor(Date.now() / 1000);
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);

const clientDeleted = (clientId: string, occurredAt = new Date()) =>
  messages.clientDeleted.make({ client_id: clientId }, { occurredAt });
const clientDisconnected = (clientId: string, creatorId: string, occurredAt = new Date()) =>
  messages.clientDisconnected.make({ client_id: clientId, creator_id: creatorId }, { occurredAt });

const readOutcome = statement('test.inbox', 'SELECT outcome FROM inbox WHERE message_id = $1');
/** Publishes messages, and resolves when the worker has handled them. */
async function publishUntilHandled(...published: readonly Message[]): Promise<void> {
  await given.publish(...published);
  for (const { id } of published)
    await eventually(async () => (await given.stores.database.row(readOutcome, [id])) !== undefined);
}

const readSubscriptions = statement(
  'test.subscriptions-of-client',
  `SELECT creator_id, deleted_reason, secret = '' AND previous_secret IS NULL AS erased FROM webhook_subscriptions
   WHERE client_id = $1 ORDER BY id`,
);
const subscriptionsOf = (clientId: string) =>
  given.stores.database.rows<{ deleted_reason: string | null }>(readSubscriptions, [clientId]);
// `deleted_at` is the start of the transaction, so it differs between batches.
const countPerTransaction = statement(
  'test.deleted-per-transaction',
  `SELECT count(*) AS count FROM webhook_subscriptions WHERE client_id = $1 GROUP BY deleted_at ORDER BY deleted_at`,
);
const reasonsOf = async (clientId: string) =>
  (await subscriptionsOf(clientId)).map(({ deleted_reason: reason }) => reason);
const untilDeleted = (clientId: string, count: number) =>
  eventually(async () => (await reasonsOf(clientId)).filter((reason) => reason !== null).length === count);

/** Creates a client with a token that was issued `ageSeconds` ago. */
const anApp = (clientId: string, ageSeconds: number, claims: Readonly<Record<string, unknown>> = {}) =>
  given.client({ client_id: clientId, iat: nowSeconds() - ageSeconds, ...claims });

describe('the subscriptions of a client that is deleted', () => {
  it('are deleted for all creators, including disabled ones, and those of other clients remain', async () => {
    const clientId = uniqueName('client');
    const [one, two] = [await anApp(clientId, minuteSeconds), await anApp(clientId, minuteSeconds)];
    const other = await given.client({ creator_id: one.creatorId });
    for (const client of [one, two, other]) await client.subscribe(given.receiver.url);
    const id = await two.subscribe(given.receiver.url);
    await two.patch(id, { status: 'disabled', secret: 'another' }).expect(200);
    await publishUntilHandled(clientDeleted(clientId));
    expect(await subscriptionsOf(clientId)).toEqual(
      [one, two, two].map(({ creatorId }) => ({
        creator_id: creatorId,
        deleted_reason: 'client_deleted',
        erased: true,
      })),
    );
    await two.get(`/${id}`).expect(404);
    await given.publish(orderCreated(one.creatorId), orderCreated(two.creatorId));
    await given.deliveriesWhen(haveStatuses('succeeded'));
    expect((await other.get()).body.data).toHaveLength(1);
    expect(given.receiver.deliveries).toHaveLength(1);
  });

  it('are all deleted, at most a thousand in a transaction', async () => {
    const clientId = uniqueName('client');
    const insert = statement(
      'test.insert-many',
      `INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status)
       SELECT gen_random_uuid(), gen_random_uuid(), $1, 'https://shop.example/', '{order.created}', 'x', 'v', 'active'
       FROM generate_series(1, 2500)`,
    );
    await given.stores.database.run(insert, [clientId]);
    // Later than the second in which the subscriptions were authorised.
    const revocation = clientDeleted(clientId, new Date(Date.now() + 1000));
    await publishUntilHandled(revocation);
    await untilDeleted(clientId, 2500);
    expect(await given.stores.database.rows(countPerTransaction, [clientId])).toEqual(
      [1000, 1000, 500].map((count) => ({ count })),
    );
    await publishUntilHandled(revocation); // repeated
    expect(new Set(await reasonsOf(clientId))).toEqual(new Set(['client_deleted']));
  });

  it('get no deliveries once the revocation is recorded, even before they are deleted', async () => {
    const [revoked, other] = [
      await anApp(uniqueName('client'), minuteSeconds),
      await anApp(uniqueName('client'), minuteSeconds),
    ];
    const ids = await Promise.all([revoked, other].map((client) => client.subscribe(given.receiver.url)));
    const recordRevocation = statement(
      'test.record-revocation',
      'INSERT INTO webhook_access_revocations (client_id, revoked_at) SELECT client_id, now() FROM webhook_subscriptions WHERE id = $1',
    );
    await given.stores.database.run(recordRevocation, [parsePublicId('whk', ids[0] ?? '')]);
    await given.publish(orderCreated(revoked.creatorId), orderCreated(other.creatorId));
    await given.deliveriesWhen(
      (found) => found.length === 2 && found.some((row) => row.status === 'succeeded'),
    );
    given.worker.reconcile(); // does not lead to an attempt either
    await given.publish(orderCreated(other.creatorId));
    await given.deliveriesWhen((found) => found.filter((row) => row.status === 'succeeded').length === 2);
    const waiting = (await deliveriesOf(given.stores)).filter((row) => row.status !== 'succeeded');
    expect(waiting).toMatchObject([{ status: 'pending', attempt_count: 0 }]);
    expect(given.receiver.deliveries).toHaveLength(2);
  });
});

describe('the subscriptions of a client that is disconnected', () => {
  it('are deleted for that creator only', async () => {
    const clientId = uniqueName('client');
    const [one, two] = [await anApp(clientId, minuteSeconds), await anApp(clientId, minuteSeconds)];
    for (const client of [one, two]) await client.subscribe(given.receiver.url);
    await publishUntilHandled(clientDisconnected(clientId, one.creatorId));
    expect(await reasonsOf(clientId)).toEqual(['client_disconnected', null]);
    await given.publish(orderCreated(one.creatorId), orderCreated(two.creatorId));
    await given.deliveriesWhen(haveStatuses('succeeded'));
    expect(given.receiver.deliveries).toHaveLength(1);
  });

  it('can be re-created after reconnecting, and are not deleted by a repeated old message', async () => {
    const clientId = uniqueName('client');
    const before = await anApp(clientId, 2 * minuteSeconds);
    await before.subscribe(given.receiver.url);
    const revocation = clientDisconnected(clientId, before.creatorId, secondsAgo(minuteSeconds));
    await publishUntilHandled(revocation);
    const reconnected = await anApp(clientId, 0, { creator_id: before.creatorId });
    await reconnected.subscribe(given.receiver.url);
    await publishUntilHandled(revocation);
    await publishUntilHandled(clientDisconnected(clientId, before.creatorId, secondsAgo(minuteSeconds)));
    expect(await reasonsOf(clientId)).toEqual(['client_disconnected', null]);
  });

  it('are deleted by a late message, except those created after the revocation', async () => {
    const clientId = uniqueName('client');
    const before = await anApp(clientId, 2 * minuteSeconds);
    const reconnected = await anApp(clientId, 0, { creator_id: before.creatorId });
    await reconnected.subscribe(given.receiver.url);
    await before.subscribe(given.receiver.url); // the worker does not know of the revocation yet
    await publishUntilHandled(clientDisconnected(clientId, before.creatorId, secondsAgo(minuteSeconds)));
    expect(await reasonsOf(clientId)).toEqual([null, 'client_disconnected']);
  });

  it('cannot be created with a token from before the later of two revocations, even if its message arrives first', async () => {
    const clientId = uniqueName('client');
    const client = await anApp(clientId, minuteSeconds);
    await publishUntilHandled(
      clientDisconnected(clientId, client.creatorId, secondsAgo(0)),
      clientDisconnected(clientId, client.creatorId, secondsAgo(2 * minuteSeconds)),
    );
    const { url } = given.receiver;
    await client.post({ url, events: ['order.created'], secret: 's' }).expect(403);
  });

  it('cannot be created with a token of revoked access that the API still accepts', async () => {
    const clientId = uniqueName('client');
    const before = await anApp(clientId, 2 * minuteSeconds);
    await publishUntilHandled(clientDisconnected(clientId, before.creatorId, secondsAgo(minuteSeconds)));
    const { url } = given.receiver;
    await before.post({ url, events: ['order.created'], secret: 's' }).expect(403);
    const elsewhere = await anApp(clientId, 2 * minuteSeconds);
    await elsewhere.subscribe(url);
    expect(await reasonsOf(clientId)).toEqual([null]);
  });

  it('are also deleted when they are created concurrently', async () => {
    const [clientId, creatorId] = [uniqueName('client'), uuidv7()];
    const insert = statement(
      'test.insert-one',
      `INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status, authorized_at)
       VALUES (gen_random_uuid(), $1, $2, 'https://shop.example/', '{order.created}', 'x', 'v', 'active', $3)`,
    );
    const { database, broker } = given.stores;
    const revocation = clientDisconnected(clientId, creatorId);
    await database.transaction(async (tx) => {
      expect(await lockAndCheckRevoked(tx, clientId, creatorId, secondsAgo(minuteSeconds))).toBe(false);
      await broker.publish(revocation);
      await untilLockWaits(database, { query: '%advisory%' });
      await tx.run(insert, [creatorId, clientId, secondsAgo(minuteSeconds)]);
    });
    await publishUntilHandled(revocation);
    expect(await reasonsOf(clientId)).toEqual(['client_disconnected']);
  });
});

it.each(publishedMessages('webhook-worker.clients').map((message) => [message.type, message] as const))(
  'the subscriptions of a client are deleted by %s as earlier versions published it',
  async (_type, message) => {
    const { client_id, ...creator } = z
      .object({ client_id: z.string(), creator_id: z.string().optional() })
      .parse(message.data);
    await (await anApp(client_id, minuteSeconds, creator)).subscribe(given.receiver.url);
    await publishUntilHandled({ ...message, occurred_at: new Date().toISOString() });
    expect(await reasonsOf(client_id)).toEqual([message.type.replace('.', '_')]);
  },
);

describe('the revocation of access at 12:10:10.500', () => {
  const evaluate = statement(
    'test.is-covered-by',
    `SELECT ${issuedBeforeRevocationSql('$1::timestamptz', '$2::timestamptz', '$3::timestamptz')} AS covered`,
  );
  it.each([
    ['covers a subscription whose token is of an earlier second', '10:09', '10:09.900', true],
    [
      'covers a subscription whose token is of an earlier second, and was used long after',
      '10:09',
      '11:30',
      true,
    ],
    ['does not cover a subscription whose token is of a later second', '10:11', '10:11.001', false],
    [
      'does not cover a subscription whose token is of a later second, even if our clock is behind',
      '10:11',
      '10:08',
      false,
    ],
    [
      'covers a subscription whose token is of the same second, and was used before',
      '10:10',
      '10:10.400',
      true,
    ],
    [
      'does not cover a subscription whose token is of the same second, and was used after',
      '10:10',
      '10:10.600',
      false,
    ],
  ])('%s', async (_case, authorizedAt, createdAt, covered) => {
    const at = (minutesAndSeconds: string) => `2026-03-01T12:${minutesAndSeconds}Z`;
    const values = [at(authorizedAt), at(createdAt), at('10:10.500')];
    expect(await given.stores.database.row(evaluate, values)).toEqual({ covered });
  });
});

it('a claim reads no revocations of the access of the same client to other creators', async () => {
  const clientId = uniqueName('client');
  const app = await anApp(clientId, minuteSeconds);
  const id = parsePublicId('whk', await app.subscribe(given.receiver.url));
  const insert = statement(
    'test.insert-revocations-of-others',
    `INSERT INTO webhook_access_revocations (client_id, creator_id, revoked_at)
     SELECT $1, gen_random_uuid(), now() FROM generate_series(1, 5000)`,
  );
  // As the statements of a claim read it.
  const readUnrevoked = statement(
    'test.read-unrevoked',
    `SELECT s.id FROM webhook_subscriptions s WHERE s.id = $1 AND ${accessNotRevokedSql('s')}`,
  );
  // In one transaction, so that the worker does not finish the revocations.
  const [root] = await given.stores.database.transaction(async (tx) => {
    await tx.run(insert, [clientId]);
    return executedPlan(tx, readUnrevoked, [id]);
  });
  expect(root).toMatchObject({ 'Actual Rows': 1 });
  expect(blocksRead(root)).toBeLessThan(30);
});

it('revocations are deleted a thousand at a time', async () => {
  const insert = statement(
    'test.insert-expired-revocations',
    `INSERT INTO webhook_access_revocations (client_id, creator_id, revoked_at, unfinished)
     SELECT $1, gen_random_uuid(), now() - interval '2 days', false FROM generate_series(1, 1200)`,
  );
  // In one transaction, so that the worker's own cleanup does not see these.
  const deletedCounts = await given.stores.database.transaction(async (tx) => {
    await deleteExpiredRevocations(tx);
    await tx.run(insert, [uniqueName('client')]);
    return [await deleteExpiredRevocations(tx), await deleteExpiredRevocations(tx)];
  });
  expect(deletedCounts).toEqual([1000, 200]);
});

it('a revocation is deleted after a day, long after its tokens have expired', async () => {
  const [old, young] = [uniqueName('client'), uniqueName('client')];
  await publishUntilHandled(
    clientDeleted(old, secondsAgo(25 * 3600)),
    clientDisconnected(young, uuidv7(), secondsAgo(3600)),
  );
  await deleteExpiredRevocations(given.stores.database);
  const readRevocations = statement(
    'test.read-revocations',
    'SELECT client_id FROM webhook_access_revocations WHERE client_id = ANY ($1)',
  );
  expect(await given.stores.database.rows(readRevocations, [[old, young]])).toEqual([{ client_id: young }]);
});
