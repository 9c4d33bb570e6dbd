import { storeScopes } from '@fulfilment/contracts';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import {
  aClient,
  startWorker,
  webhookStores,
  type WebhookStores,
  type Worker,
} from '../webhook-worker.fixture.js';

describe('a host name that may be private', () => {
  let stores: WebhookStores;
  let worker: Worker;
  const lookups: string[] = [];
  beforeAll(async () => {
    stores = await webhookStores();
    const guarded = new GuardedClient({
      allowLoopback: false,
      resolve: (hostname) => {
        lookups.push(hostname);
        const address = hostname.startsWith('private') ? '10.0.0.1' : '8.8.8.8';
        return Promise.resolve([{ address, family: 4 }]);
      },
    });
    worker = await startWorker(stores, { ALLOW_LOOPBACK_TARGETS: 'false' }, guarded);
  });
  afterAll(async () => {
    await worker.stop();
    await stores.stop();
  });
  beforeEach(() => lookups.splice(0));

  const to = (host: string) => ({
    events: ['order.created'],
    url: `https://${host}.example/hook`,
    secret: 'a secret',
  });

  it('is not resolved for a caller without scope or creator, or at the limit of subscriptions', async () => {
    const scope = Object.keys(storeScopes)
      .filter((name) => name !== 'webhooks:create')
      .join(' ');
    await (await aClient(stores, worker, { scope })).post(to('private')).expect(403);
    await (await aClient(stores, worker, { creator_id: undefined })).post(to('private')).expect(403);
    const full = await aClient(stores, worker);
    for (let count = 0; count < 50; count += 1) await full.post(to('public')).expect(201);
    lookups.splice(0);
    await full.post(to('private')).expect(409);
    expect(lookups).toEqual([]);
  });

  it('is not resolved for a subscription of another client', async () => {
    const owner = await aClient(stores, worker);
    const { body } = await owner.post(to('public')).expect(201);
    lookups.splice(0);
    const stranger = await aClient(stores, worker);
    await stranger.patch(String(body.id), { url: to('private').url }).expect(404);
    expect(lookups).toEqual([]);
    await owner.patch(String(body.id), { url: to('private').url }).expect(400);
    expect(lookups).toEqual(['private.example']);
  });

  it('is not resolved after twenty private names of the same owner', async () => {
    const prober = await aClient(stores, worker);
    const { body } = await prober.post(to('public')).expect(201);
    for (let name = 0; name < 10; name += 1) {
      const rejected = await prober.post(to(`private-${name}`)).expect(400);
      expect(rejected.body.details).toEqual([
        { field: 'url', reason: 'must not resolve to a private or reserved address' },
      ]);
      await prober.patch(String(body.id), { url: to(`private-${name}`).url }).expect(400);
    }
    lookups.splice(0);
    const limited = await prober.post(to('private-last')).expect(429);
    expect(limited.body.code).toBe('RATE_LIMITED');
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    await prober.patch(String(body.id), { url: to('public').url }).expect(429);
    expect(lookups).toEqual([]);
    await prober.patch(String(body.id), { events: ['order.shipped'] }).expect(200);
    await (await aClient(stores, worker)).post(to('public')).expect(201);
  });
});
