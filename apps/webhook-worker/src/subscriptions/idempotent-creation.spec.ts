import { statement } from '@fulfilment/database';
import { deleteExpiredIdempotencyKeys } from '@fulfilment/http-service';
import { Cleanup } from '@fulfilment/service-host';
import { aClient, startWorker } from '../test/webhook-worker.fixture.js';
import { setUpWorker } from '../test/worker-setup.fixture.js';
import { maxSubscriptions } from './subscription.rules.js';

const key = 'one-key';
const input = { url: 'https://8.8.8.8/hook', events: ['order.created'], secret: 'a secret of the receiver' };
const hourMs = 3_600_000;
const countSubscriptions = statement(
  'test.count-subscriptions',
  'SELECT count(*) AS count FROM webhook_subscriptions WHERE creator_id = $1',
);
const readKeys = statement('test.read-keys', 'SELECT * FROM idempotency_keys WHERE creator_id = $1');
const insertKeys = statement(
  'test.insert-keys',
  `INSERT INTO idempotency_keys (creator_id, client_id, key, fingerprint, response, created_at)
   SELECT $1, 'client', 'key ' || n, '', '{}', $2 FROM generate_series(1, $3) AS n`,
);

type Client = Awaited<ReturnType<typeof aClient>>;

describe('POST /v1/webhooks with an idempotency key', () => {
  const given = setUpWorker({ ALLOW_LOOPBACK_TARGETS: 'false' }, { clock: () => now });
  let now = new Date();
  let client: Client;
  /** Stops the cleanup: a test deletes batches of expired keys itself. */
  beforeAll(() => given.worker.app.get(Cleanup).stop());
  beforeEach(async () => {
    now = new Date();
    client = await given.client();
  });

  const subscribe = (body: object = input, caller: Client = client, keyText = key) =>
    caller.post(body, '', { 'idempotency-key': keyText });
  const subscriptionCount = async ({ creatorId }: Client = client) =>
    (await given.stores.database.row<{ count: number }>(countSubscriptions, [creatorId]))?.count;

  it('returns the first response to a repeated request, even if the subscription has changed', async () => {
    const first = await subscribe().expect(201);
    await client.patch(first.body.id, { status: 'disabled' }).expect(200);
    const { url, events, secret } = input;
    // The order of members, unknown members and quotes around the key do not matter.
    const repeated = await subscribe({ secret, unknown: 1, events, url }, client, `"${key}"`).expect(201);
    expect(repeated.text).toBe(first.text);
    expect(repeated.headers['location']).toBe(first.headers['location']);
    expect(repeated.headers['idempotent-replayed']).toBe('true');
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(await subscriptionCount()).toBe(1);
  });

  it.each([
    ['secret', { ...input, secret: 'another secret' }],
    ['URL', { ...input, url: 'https://8.8.4.4/hook' }],
  ])('responds with 409 when the key comes with another %s', async (_member, other) => {
    await subscribe().expect(201);
    const { body } = await subscribe(other).expect(409);
    expect(body).toMatchObject({
      code: 'CONFLICT',
      details: [{ field: 'idempotency-key', reason: 'body_mismatch' }],
    });
    expect(await subscriptionCount()).toBe(1);
  });

  it('creates one subscription for parallel requests', async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => subscribe()));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(await subscriptionCount()).toBe(1);
  });

  it('scopes the key to client and creator, and to its exact text', async () => {
    const sameCreator = await given.client({ creator_id: client.creatorId });
    const otherCreator = await given.client();
    const responses = await Promise.all([
      subscribe(),
      subscribe(input, sameCreator),
      subscribe(input, otherCreator),
      subscribe(input, client, 'another-key'),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(4);
  });

  it('leaves the key unused after a request that created nothing', async () => {
    await subscribe({ ...input, url: 'https://127.0.0.1/' }).expect(400);
    for (let count = 0; count < maxSubscriptions; count += 1) await client.post(input).expect(201);
    expect((await subscribe().expect(409)).body.details).toBeUndefined(); // the limit, not the key
    const [{ id } = { id: '' }] = (await client.get().expect(200)).body.data;
    await client.delete(id).expect(204);
    const first = await subscribe().expect(201);
    expect((await subscribe().expect(201)).body).toEqual(first.body);
  });

  it('stores the key for 24 hours, and then accepts it for a new request', async () => {
    const first = await subscribe().expect(201);
    now = new Date(now.getTime() + 24 * hourMs - 1);
    expect((await subscribe().expect(201)).body.id).toBe(first.body.id);
    now = new Date(now.getTime() + 1);
    const second = await subscribe({ ...input, secret: 'another secret' }).expect(201);
    expect(second.body.id).not.toBe(first.body.id);
    expect(second.headers['idempotent-replayed']).toBeUndefined();
    expect((await subscribe({ ...input, secret: 'another secret' }).expect(201)).text).toBe(second.text);
  });

  it('recognises the key after a rotation of the encryption key, and stores no secret with it', async () => {
    const first = await subscribe().expect(201);
    // The key of `setUpWorker`.
    const oldKey = Buffer.from('a test key of thirty-two bytes..').toString('base64');
    const newKey = Buffer.from('another key of thirty-two bytes.').toString('base64');
    const rotated = await startWorker(given.stores, {
      ALLOW_LOOPBACK_TARGETS: 'false',
      SECRET_ENCRYPTION_KEY: `${newKey},${oldKey}`,
    });
    try {
      const { claims } = client;
      const repeated = await subscribe(input, await aClient(given.stores, rotated, claims)).expect(201);
      expect(repeated.text).toBe(first.text);
    } finally {
      await rotated.stop();
    }
    expect(JSON.stringify(await given.stores.database.rows(readKeys, [client.creatorId]))).not.toContain(
      input.secret,
    );
  });

  it('is forgotten after 24 hours, when keys are deleted in batches of a thousand', async () => {
    await given.stores.database.run(insertKeys, [
      client.creatorId,
      new Date(now.getTime() - 24 * hourMs),
      1_200,
    ]);
    await subscribe().expect(201);
    const remaining = async () => (await given.stores.database.rows(readKeys, [client.creatorId])).length;
    expect(await deleteExpiredIdempotencyKeys(given.stores.database, now)).toBe(1_000);
    expect(await remaining()).toBe(201);
    expect(await deleteExpiredIdempotencyKeys(given.stores.database, now)).toBe(200);
    expect(await remaining()).toBe(1);
  });
});
