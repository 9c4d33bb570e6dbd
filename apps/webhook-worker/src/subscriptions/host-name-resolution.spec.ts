import { storeScopes } from '@fulfilment/contracts';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { setUpWorker } from '../test/worker-setup.fixture.js';
import { maxSubscriptions } from './subscription.rules.js';

const lookups: string[] = [];
const guardedClient = new GuardedClient({
  allowLoopback: false,
  resolve: (hostname) => {
    lookups.push(hostname);
    const address = hostname.startsWith('private') ? '10.0.0.1' : '8.8.8.8';
    return Promise.resolve([{ address, family: 4 }]);
  },
});
const given = setUpWorker({ ALLOW_LOOPBACK_TARGETS: 'false' }, { client: guardedClient });

describe('the host name of a subscription', () => {
  beforeEach(() => lookups.splice(0));

  const subscriptionTo = (host: string) => ({
    events: ['order.created'],
    url: `https://${host}.example/hook`,
    secret: 'a secret',
  });

  it('is not resolved for a caller without scope or creator, or at the limit of subscriptions', async () => {
    const scope = Object.keys(storeScopes)
      .filter((name) => name !== 'webhooks:create')
      .join(' ');
    await (await given.client({ scope })).post(subscriptionTo('private')).expect(403);
    await (await given.client({ creator_id: undefined })).post(subscriptionTo('private')).expect(403);
    const full = await given.client();
    for (let count = 0; count < maxSubscriptions; count += 1)
      await full.post(subscriptionTo('public')).expect(201);
    lookups.splice(0);
    await full.post(subscriptionTo('private')).expect(409);
    expect(lookups).toEqual([]);
  });

  it('is not resolved for a subscription of another client', async () => {
    const owner = await given.client();
    const { body } = await owner.post(subscriptionTo('public')).expect(201);
    lookups.splice(0);
    const otherClient = await given.client();
    await otherClient.patch(String(body.id), { url: subscriptionTo('private').url }).expect(404);
    expect(lookups).toEqual([]);
    await owner.patch(String(body.id), { url: subscriptionTo('private').url }).expect(400);
    expect(lookups).toEqual(['private.example']);
  });

  it('is not resolved after twenty URLs of the same owner were rejected for a private host name', async () => {
    const prober = await given.client();
    const { body } = await prober.post(subscriptionTo('public')).expect(201);
    for (let index = 0; index < 10; index += 1) {
      const rejected = await prober.post(subscriptionTo(`private-${index}`)).expect(400);
      expect(rejected.body.details).toEqual([
        { field: 'url', reason: 'must not resolve to a private or reserved address' },
      ]);
      await prober.patch(String(body.id), { url: subscriptionTo(`private-${index}`).url }).expect(400);
    }
    lookups.splice(0);
    const limited = await prober.post(subscriptionTo('private-last')).expect(429);
    expect(limited.body.code).toBe('RATE_LIMITED');
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    await prober.patch(String(body.id), { url: subscriptionTo('public').url }).expect(429);
    expect(lookups).toEqual([]);
    await prober.patch(String(body.id), { events: ['order.shipped'] }).expect(200);
    await (await given.client()).post(subscriptionTo('public')).expect(201);
  });

  it('is not resolved for more than twenty concurrent requests of the same owner', async () => {
    const prober = await given.client();
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const { status } = await prober.post(subscriptionTo(`private-${index}`));
        return status;
      }),
    );
    expect(statuses.toSorted()).toEqual([...Array<number>(20).fill(400), ...Array<number>(10).fill(429)]);
    expect(lookups).toHaveLength(20);
  });
});
