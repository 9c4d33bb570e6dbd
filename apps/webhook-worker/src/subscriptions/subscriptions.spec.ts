import { storeScopes } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import {
  aClient,
  startWorker,
  webhookStores,
  type WebhookStores,
  type Worker,
} from '../webhook-worker.fixture.js';

let stores: WebhookStores;
let worker: Worker;

beforeAll(async () => {
  stores = await webhookStores();
  worker = await startWorker(stores, { ALLOW_LOOPBACK_TARGETS: 'false' });
});
afterAll(async () => {
  await worker.stop();
  await stores.stop();
});

const url = 'https://8.8.8.8/hook';
const wish = { url, events: ['order.created', 'product.in_stock'], secret: 's' };
const secretOf = statement(
  'test.secret',
  'SELECT secret FROM webhook_subscriptions ORDER BY created_at DESC LIMIT 1',
);

const previousSecretOf = statement(
  'test.previous-secret',
  'SELECT previous_secret FROM webhook_subscriptions ORDER BY created_at DESC LIMIT 1',
);

describe('POST /v1/webhooks', () => {
  it('answers 201 with the subscription, its place and never the secret', async () => {
    const client = await aClient(stores, worker);
    const answer = await client.post(wish).expect(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^whk_[0-9a-z]{26}$/),
      events: ['order.created', 'product.in_stock'],
      url,
      status: 'active',
      consecutive_failures: 0,
      last_delivery_at: null,
      last_failure_at: null,
      disabled_at: null,
    });
    expect(answer.headers['location']).toBe(`https://suite.localhost/store/v1/webhooks/${answer.body.id}`);
  });

  it.each([
    ['x', 'x'],
    ['256 emoji', '🎶'.repeat(256)],
    ['white space', ' \n\t'],
    ['a NUL', 'a\u0000b'],
    ['letters that NFC would change', 'e\u0301'],
  ])('takes a secret of %s', async (_what, secret) => {
    const client = await aClient(stores, worker);
    await client.post({ ...wish, secret }).expect(201);
    const row = await stores.database.row<{ secret: Buffer }>(secretOf);
    expect(row?.secret.length).toBe(4 + 12 + 16 + Buffer.byteLength(secret));
    if (secret.length > 2) expect(row?.secret.includes(Buffer.from(secret))).toBe(false);
  });

  it('stores events that are given twice once, and ignores unknown members', async () => {
    const client = await aClient(stores, worker);
    const { body } = await client
      .post({
        ...wish,
        events: ['order.created', 'order.shipped', 'order.created'],
        id: 'mine',
        status: 'disabled',
      })
      .expect(201);
    expect(body).toMatchObject({ events: ['order.created', 'order.shipped'], status: 'active' });
  });

  it.each([
    [{ ...wish, events: [] }, 'events'],
    [{ ...wish, events: 'order.created' }, 'events'],
    [{ ...wish, events: ['order.created', 1] }, 'events.1'],
    [{ ...wish, events: [null] }, 'events.0'],
    [{ ...wish, events: Array(101).fill('order.created') }, 'events'],
    [{ ...wish, events: ['order.created', 'order.lost'] }, 'events.1'],
    [{ url, secret: 's' }, 'events'],
    [{ ...wish, url: undefined }, 'url'],
    [{ ...wish, url: 7 }, 'url'],
    [{ ...wish, url: 'not a url' }, 'url'],
    [{ ...wish, url: 'http://8.8.8.8/' }, 'url'],
    [{ ...wish, url: 'https://127.0.0.1/' }, 'url'],
    [{ ...wish, url: 'https://0x7f.1/' }, 'url'],
    [{ ...wish, url: 'https://localhost/' }, 'url'],
    [{ ...wish, url: 'https://169.254.169.254/latest' }, 'url'],
    [{ ...wish, url: 'https://user:pass@8.8.8.8/' }, 'url'],
    [{ ...wish, url: `https://8.8.8.8/${'a'.repeat(2048)}` }, 'url'],
    [{ ...wish, url: 'https://suite.localhost/hook' }, 'url'],
    [{ ...wish, secret: '' }, 'secret'],
    [{ ...wish, secret: null }, 'secret'],
    [{ ...wish, secret: 'a'.repeat(257) }, 'secret'],
    [{ ...wish, secret: '\ud800' }, 'secret'],
    [{ ...wish, secret: 5 }, 'secret'],
  ])('refuses %j on %s', async (body, field) => {
    const client = await aClient(stores, worker);
    const answer = await client.post(body).expect(400);
    expect(answer.body).toMatchObject({ statusCode: 400, code: 'VALIDATION_ERROR' });
    expect(answer.body.details.map((detail: { field: string }) => detail.field)).toEqual([field]);
  });

  it.each([undefined, null, 'order.created', { 0: 'order.created' }])(
    'says of events that are %j that they must be a list',
    async (events) => {
      const client = await aClient(stores, worker);
      expect((await client.post({ ...wish, events }).expect(400)).body.details).toEqual([
        { field: 'events', reason: 'must be an array of event names' },
      ]);
    },
  );

  it('takes a URL of exactly 2048 characters', async () => {
    const client = await aClient(stores, worker);
    await client.post({ ...wish, url: `https://8.8.8.8/${'a'.repeat(2048 - 16)}` }).expect(201);
  });

  it('refuses the fifty-first with 409, also when all come at once', async () => {
    const client = await aClient(stores, worker);
    const answers = await Promise.all(Array.from({ length: 53 }, () => client.post(wish)));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(50);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(3);
    const { body } = await client.get().expect(200);
    await client.delete(body.data[0].id).expect(204);
    await client.post(wish).expect(201);
  });

  it('is 403 for an access without a creator, whose list is empty', async () => {
    const client = await aClient(stores, worker, { creator_id: undefined });
    await client.post(wish).expect(403);
    expect((await client.get().expect(200)).body).toEqual({ data: [] });
    await client.get('/whk_00000000000000000000000000').expect(404);
  });
});

describe('the other operations', () => {
  it('list only what is active, newest first, of the same client and creator', async () => {
    const client = await aClient(stores, worker);
    const [first, second, third] = [
      (await client.post(wish)).body.id,
      (await client.post(wish)).body.id,
      (await client.post(wish)).body.id,
    ];
    await client.patch(second, { status: 'disabled' }).expect(200);
    const { body } = await client.get().expect(200);
    expect(Object.keys(body)).toEqual(['data']);
    expect(body.data.map((row: { id: string }) => row.id)).toEqual([third, first]);
    expect((await client.get(`/${second}`).expect(200)).body.status).toBe('disabled');
  });

  it("answer 404 for another creator's, another client's, unknown and malformed ids", async () => {
    const owner = await aClient(stores, worker);
    const id = (await owner.post(wish)).body.id;
    const otherCreator = await aClient(stores, worker);
    const otherClient = await aClient(stores, worker, { creator_id: owner.creatorId });
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

  it('change what is given and leave the rest', async () => {
    const client = await aClient(stores, worker);
    const before = (await client.post(wish)).body;
    expect((await client.patch(before.id, {}).expect(200)).body).toEqual(before);
    const { body } = await client.patch(before.id, {
      url: 'https://1.1.1.1/',
      events: ['order.shipped'],
      secret: null,
    });
    expect(body).toEqual({ ...before, url: 'https://1.1.1.1/', events: ['order.shipped'] });
    expect((await client.get(`/${before.id}`)).body).toEqual(body);
  });

  it.each([
    [{ status: 'paused' }, 'status'],
    [{ events: [] }, 'events'],
    [{ events: ['nothing'] }, 'events.0'],
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ secret: '' }, 'secret'],
  ])('refuse the change %j on %s', async (change, field) => {
    const client = await aClient(stores, worker);
    const id = (await client.post(wish)).body.id;
    const answer = await client.patch(id, change).expect(400);
    expect(answer.body.details[0].field).toBe(field);
  });

  it('keep the secret before the last one when the last is given again, as after a lost answer', async () => {
    const client = await aClient(stores, worker);
    const id = (await client.post(wish)).body.id;
    await client.patch(id, { secret: 'new' }).expect(200);
    const before = await stores.database.row(previousSecretOf);
    await client.patch(id, { secret: 'new' }).expect(200);
    expect(await stores.database.row(previousSecretOf)).toEqual(before);
    expect(before).toEqual({ previous_secret: expect.any(Buffer) });
  });

  it('delete once: 204, then 404 for everything', async () => {
    const client = await aClient(stores, worker);
    const id = (await client.post(wish)).body.id;
    expect((await client.delete(id).expect(204)).text).toBe('');
    await client.delete(id).expect(404);
    await client.get(`/${id}`).expect(404);
    await client.patch(id, { status: 'active' }).expect(404);
  });

  it('each need their own scope', async () => {
    const needs = { read: 'get', create: 'post', update: 'patch', delete: 'delete' } as const;
    for (const [name, method] of Object.entries(needs)) {
      const scope = Object.keys(storeScopes)
        .filter((other) => other !== `webhooks:${name}`)
        .join(' ');
      const client = await aClient(stores, worker, { scope });
      const id = 'whk_00000000000000000000000000';
      const calls = {
        get: () => client.get(),
        post: () => client.post(wish),
        patch: () => client.patch(id, {}),
        delete: () => client.delete(id),
      };
      const answer = await calls[method]();
      expect(answer.body).toMatchObject({ statusCode: 403, code: 'FORBIDDEN' });
    }
  });
});

describe('a body with several faults', () => {
  it.each([
    [
      { url: 'http://shop.example/', events: ['nothing', 'order.created'], secret: '' },
      ['events.0', 'secret', 'url'],
    ],
    [{ url: 'https://127.0.0.1/hook', events: 'order.created' }, ['events', 'secret', 'url']],
    [{ url: 7, events: ['nothing'], secret: 's' }, ['events.0', 'url']],
    [{ secret: 's' }, ['events', 'url']],
  ])('is rejected with all of them named, the URL included: %j', async (body, fields) => {
    const client = await aClient(stores, worker);
    const answer = await client.post(body).expect(400);
    expect(answer.body.details.map(({ field }: { field: string }) => field).toSorted()).toEqual(fields);
  });

  it('is rejected so when a subscription is changed, too', async () => {
    const client = await aClient(stores, worker);
    const id = await client.subscribe('https://shop.example/hook');
    const body = { url: 'http://shop.example/', events: ['nothing'], secret: '', status: 'paused' };
    const answer = await client.patch(id, body).expect(400);
    const fields = answer.body.details.map(({ field }: { field: string }) => field).toSorted();
    expect(fields).toEqual(['events.0', 'secret', 'status', 'url']);
  });
});
