import { storeScopes } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { setUpWorker } from '../test/worker-setup.fixture.js';

const given = setUpWorker({ ALLOW_LOOPBACK_TARGETS: 'false' });

const url = 'https://8.8.8.8/hook';
const input = { url, events: ['order.created', 'product.in_stock'], secret: 's' };
const subscribeOtherClients = statement(
  'test.subscribe-other-clients',
  `INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status)
   SELECT gen_random_uuid(), $1, 'client ' || n, 'https://shop.example/', '{order.created}', 'x', 'v', 'active'
   FROM generate_series(1, $2) AS n`,
);
const readNewestSecret = statement(
  'test.read-newest-secret',
  'SELECT secret FROM webhook_subscriptions ORDER BY created_at DESC LIMIT 1',
);
const makeNewestSecretUnreadable = statement(
  'test.make-newest-secret-unreadable',
  `UPDATE webhook_subscriptions SET secret = 'sealed with a lost key'
   WHERE id = (SELECT id FROM webhook_subscriptions ORDER BY created_at DESC LIMIT 1)`,
);
const readNewestPreviousSecret = statement(
  'test.read-newest-previous-secret',
  'SELECT previous_secret FROM webhook_subscriptions ORDER BY created_at DESC LIMIT 1',
);

describe('POST /v1/webhooks', () => {
  it('returns 201 with the subscription and its URL, without the secret', async () => {
    const client = await given.client();
    const response = await client.post(input).expect(201);
    expect(response.body).toEqual({
      id: expect.stringMatching(/^whk_[0-9a-z]{26}$/),
      events: ['order.created', 'product.in_stock'],
      url,
      status: 'active',
      consecutive_failures: 0,
      last_delivery_at: null,
      last_failure_at: null,
      disabled_at: null,
      max_in_flight: 64,
      signature: 'v1',
      due_deliveries: 0,
      oldest_due_at: null,
    });
    expect(response.headers['location']).toBe(
      `https://suite.localhost/store/v1/webhooks/${response.body.id}`,
    );
  });

  it.each([
    ['x', 'x'],
    ['256 emoji', '🎶'.repeat(256)],
    ['white space', ' \n\t'],
    ['a NUL', 'a\u0000b'],
    ['letters that NFC would change', 'e\u0301'],
  ])('accepts a secret of %s, and stores it encrypted', async (_case, secret) => {
    const client = await given.client();
    await client.post({ ...input, secret }).expect(201);
    const row = await given.stores.database.row<{ secret: Buffer }>(readNewestSecret);
    const [keyIdBytes, nonceBytes, tagBytes] = [4, 12, 16];
    expect(row?.secret.length).toBe(keyIdBytes + nonceBytes + tagBytes + Buffer.byteLength(secret));
    // A shorter one may occur in the encrypted bytes by chance.
    if (secret.length > 2) expect(row?.secret.includes(Buffer.from(secret))).toBe(false);
  });

  it('returns patterns of events as they were sent', async () => {
    const client = await given.client();
    const events = ['order.*', 'product.in_stock'];
    const { body } = await client.post({ ...input, events }).expect(201);
    expect(body.events).toEqual(events);
    const changed = await client.patch(body.id, { events: ['*', '*'] }).expect(200);
    expect(changed.body.events).toEqual(['*']);
  });

  it('stores repeated events once, and ignores unknown members', async () => {
    const client = await given.client();
    const { body } = await client
      .post({
        ...input,
        events: ['order.created', 'order.shipped', 'order.created'],
        id: 'mine',
        status: 'disabled',
      })
      .expect(201);
    expect(body).toMatchObject({ events: ['order.created', 'order.shipped'], status: 'active' });
  });

  it.each([
    [{ ...input, events: [] }, 'events'],
    [{ ...input, events: ['order.created', 1] }, 'events.1'],
    [{ ...input, events: [null] }, 'events.0'],
    [{ ...input, events: Array(101).fill('order.created') }, 'events'],
    [{ ...input, events: ['order.created', 'order.lost'] }, 'events.1'],
    [{ ...input, events: ['*', 'creator.*'] }, 'events.1'],
    [{ ...input, events: ['order.*', '*.created'] }, 'events.1'],
    [{ ...input, events: ['order.*', 'order.ship*'] }, 'events.1'],
    [{ ...input, events: ['order.*', 'order'] }, 'events.1'],
    [{ ...input, url: undefined }, 'url'],
    [{ ...input, url: 7 }, 'url'],
    [{ ...input, url: 'not a url' }, 'url'],
    [{ ...input, url: 'http://8.8.8.8/' }, 'url'],
    [{ ...input, url: 'https://127.0.0.1/' }, 'url'],
    [{ ...input, url: 'https://0x7f.1/' }, 'url'],
    [{ ...input, url: 'https://localhost/' }, 'url'],
    [{ ...input, url: 'https://169.254.169.254/latest' }, 'url'],
    [{ ...input, url: 'https://user:pass@8.8.8.8/' }, 'url'],
    [{ ...input, url: `https://8.8.8.8/${'a'.repeat(2048)}` }, 'url'],
    [{ ...input, url: 'https://suite.localhost/hook' }, 'url'],
    [{ ...input, secret: '' }, 'secret'],
    [{ ...input, secret: null }, 'secret'],
    [{ ...input, secret: 'a'.repeat(257) }, 'secret'],
    [{ ...input, secret: '\ud800' }, 'secret'],
    [{ ...input, secret: 5 }, 'secret'],
  ])('rejects %j because of %s', async (body, field) => {
    const client = await given.client();
    const response = await client.post(body).expect(400);
    expect(response.body).toMatchObject({ statusCode: 400, code: 'VALIDATION_ERROR' });
    expect(response.body.details.map((detail: { field: string }) => detail.field)).toEqual([field]);
  });

  it.each([undefined, null, 'order.created', { 0: 'order.created' }])(
    'rejects events that are %j, since they must be an array',
    async (events) => {
      const client = await given.client();
      expect((await client.post({ ...input, events }).expect(400)).body.details).toEqual([
        { field: 'events', reason: 'must be an array of event names' },
      ]);
    },
  );

  it('accepts a URL of exactly 2048 characters', async () => {
    const client = await given.client();
    await client.post({ ...input, url: 'https://8.8.8.8/'.padEnd(2048, 'a') }).expect(201);
  });

  it('rejects the fifty-first subscription with 409, also for concurrent requests', async () => {
    const client = await given.client();
    const responses = await Promise.all(Array.from({ length: 53 }, () => client.post(input)));
    expect(responses.filter((response) => response.status === 201)).toHaveLength(50);
    expect(responses.filter((response) => response.status === 409)).toHaveLength(3);
    const { body } = await client.get().expect(200);
    await client.delete(body.data[0].id).expect(204);
    await client.post(input).expect(201);
  });

  it('rejects a subscription with 409 while the clients of its creator have 1000, also for concurrent requests', async () => {
    const one = await given.client();
    const { creatorId } = one;
    const other = await given.client({ creator_id: creatorId });
    await given.stores.database.run(subscribeOtherClients, [creatorId, 999]);
    const responses = await Promise.all([one.post(input), other.post(input)]);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    await (await given.client()).post(input).expect(201);
  });

  it('returns 403 for a token without a creator; GET then returns an empty list', async () => {
    const client = await given.client({ creator_id: undefined });
    await client.post(input).expect(403);
    expect((await client.get().expect(200)).body).toEqual({ data: [] });
    await client.get('/whk_00000000000000000000000000').expect(404);
  });
});

describe('GET, PATCH and DELETE of /v1/webhooks', () => {
  it('list only active subscriptions of the same client and creator, newest first, unless a status is given', async () => {
    const client = await given.client();
    const [first, second, third] = [
      (await client.post(input)).body.id,
      (await client.post(input)).body.id,
      (await client.post(input)).body.id,
    ];
    await client.patch(second, { status: 'disabled' }).expect(200);
    const { body } = await client.get().expect(200);
    expect(Object.keys(body)).toEqual(['data']);
    expect(body.data.map((row: { id: string }) => row.id)).toEqual([third, first]);
    expect((await client.get(`/${second}`).expect(200)).body.status).toBe('disabled');
    const listed = async (query: string) =>
      (await client.get(query).expect(200)).body.data.map((row: { id: string }) => row.id);
    expect(await listed('?status=active')).toEqual([third, first]);
    expect(await listed('?status=disabled')).toEqual([second]);
    expect(await listed('?status=all')).toEqual([third, second, first]);
    const { body: rejected } = await client.get('?status=deleted').expect(400);
    expect(rejected.details).toEqual([{ field: 'status', reason: 'must be one of active, disabled, all' }]);
  });

  it("return 404 for another creator's, another client's, unknown and malformed ids", async () => {
    const owner = await given.client();
    const id = (await owner.post(input)).body.id;
    const otherCreator = await given.client();
    const otherClient = await given.client({ creator_id: owner.creatorId });
    for (const client of [otherCreator, otherClient]) {
      await client.get(`/${id}`).expect(404);
      await client.patch(id, { status: 'disabled' }).expect(404);
      await client.delete(id).expect(404);
    }
    for (const wrong of ['whk_00000000000000000000000000', 'whk_1', 'nonsense', id.toUpperCase(), `${id}0`]) {
      await owner.get(`/${wrong}`).expect(404);
      await owner.patch(wrong, {}).expect(404);
      await owner.delete(wrong).expect(404);
    }
  });

  it('change only the given members; null counts as not given', async () => {
    const client = await given.client();
    const before = (await client.post(input)).body;
    const secret = await given.stores.database.row(readNewestSecret);
    expect((await client.patch(before.id, {}).expect(200)).body).toEqual(before);
    const { body } = await client.patch(before.id, {
      url: 'https://1.1.1.1/',
      events: ['order.shipped'],
      secret: null,
    });
    expect(body).toEqual({ ...before, url: 'https://1.1.1.1/', events: ['order.shipped'] });
    expect((await client.get(`/${before.id}`)).body).toEqual(body);
    expect(await given.stores.database.row(readNewestSecret)).toEqual(secret);
  });

  it.each([
    [{ status: 'paused' }, 'status'],
    [{ events: [] }, 'events'],
    [{ events: ['nothing'] }, 'events.0'],
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ secret: '' }, 'secret'],
    [{ max_in_flight: 0 }, 'max_in_flight'],
    [{ max_in_flight: 65 }, 'max_in_flight'],
    [{ max_in_flight: 1.5 }, 'max_in_flight'],
  ])('reject the change %j because of %s', async (change, field) => {
    const client = await given.client();
    const id = (await client.post(input)).body.id;
    const response = await client.patch(id, change).expect(400);
    expect(response.body.details[0].field).toBe(field);
  });

  it('keep the limit of concurrent requests until the owner changes it', async () => {
    const client = await given.client();
    const { body } = await client.post({ ...input, max_in_flight: 3 }).expect(201);
    expect(body.max_in_flight).toBe(3);
    expect((await client.patch(body.id, { status: 'active' }).expect(200)).body.max_in_flight).toBe(3);
    expect((await client.get().expect(200)).body.data[0].max_in_flight).toBe(3);
    expect((await client.patch(body.id, { max_in_flight: 64 }).expect(200)).body.max_in_flight).toBe(64);
  });

  it('keep the previous secret when the current one is repeated, e.g. after a lost response', async () => {
    const client = await given.client();
    const id = (await client.post(input)).body.id;
    await client.patch(id, { secret: 'new' }).expect(200);
    const before = await given.stores.database.row(readNewestPreviousSecret);
    await client.patch(id, { secret: 'new' }).expect(200);
    expect(await given.stores.database.row(readNewestPreviousSecret)).toEqual(before);
    expect(before).toEqual({ previous_secret: expect.any(Buffer) });
  });

  it('replace a secret that no key opens, which then no longer signs', async () => {
    const client = await given.client();
    const id = (await client.post(input)).body.id;
    await given.stores.database.run(makeNewestSecretUnreadable);
    await client.patch(id, { secret: 'new' }).expect(200);
    expect(await given.stores.database.row(readNewestPreviousSecret)).toEqual({ previous_secret: null });
    await client.patch(id, { secret: 'newer' }).expect(200);
    expect(await given.stores.database.row(readNewestPreviousSecret)).toEqual({
      previous_secret: expect.any(Buffer),
    });
  });

  it('delete with 204, and then return 404 for the same id', async () => {
    const client = await given.client();
    const id = (await client.post(input)).body.id;
    expect((await client.delete(id).expect(204)).text).toBe('');
    await client.delete(id).expect(404);
    await client.get(`/${id}`).expect(404);
    await client.patch(id, { status: 'active' }).expect(404);
  });

  it('require the scope of their operation, as POST does', async () => {
    const needs = { read: 'get', create: 'post', update: 'patch', delete: 'delete' } as const;
    for (const [name, method] of Object.entries(needs)) {
      const scope = Object.keys(storeScopes)
        .filter((other) => other !== `webhooks:${name}`)
        .join(' ');
      const client = await given.client({ scope });
      const id = 'whk_00000000000000000000000000';
      const calls = {
        get: () => client.get(),
        post: () => client.post(input),
        patch: () => client.patch(id, {}),
        delete: () => client.delete(id),
      };
      const response = await calls[method]();
      expect(response.body).toMatchObject({ statusCode: 403, code: 'FORBIDDEN' });
    }
  });
});

describe('a body with several problems', () => {
  it.each([
    [
      { url: 'http://shop.example/', events: ['nothing', 'order.created'], secret: '' },
      ['events.0', 'secret', 'url'],
    ],
    [{ url: 'https://127.0.0.1/hook', events: 'order.created' }, ['events', 'secret', 'url']],
    [{ url: 7, events: ['nothing'], secret: 's' }, ['events.0', 'url']],
    [{ secret: 's' }, ['events', 'url']],
  ])('is rejected with a detail for each problem, including that of the URL: %j', async (body, fields) => {
    const client = await given.client();
    const response = await client.post(body).expect(400);
    expect(response.body.details.map(({ field }: { field: string }) => field).toSorted()).toEqual(fields);
  });

  it('is rejected with the problem of a URL that has fewer than 2048 characters but more UTF-16 units', async () => {
    const client = await given.client();
    const url = `http://shop.example/${'🎶'.repeat(1024)}`;
    const response = await client.post({ ...input, url, secret: '' }).expect(400);
    expect(response.body.details.map(({ field }: { field: string }) => field).toSorted()).toEqual([
      'secret',
      'url',
    ]);
  });

  it('is rejected with a detail for each problem when a subscription is changed', async () => {
    const client = await given.client();
    const id = await client.subscribe('https://shop.example/hook');
    const body = { url: 'http://shop.example/', events: ['nothing'], secret: '', status: 'paused' };
    const response = await client.patch(id, body).expect(400);
    const fields = response.body.details.map(({ field }: { field: string }) => field).toSorted();
    expect(fields).toEqual(['events.0', 'secret', 'status', 'url']);
  });
});
