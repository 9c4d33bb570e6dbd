import { randomUUID } from 'node:crypto';
import { aClient, allHaveStatus, orderCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';

const given = setUpWorker();

type Client = Awaited<ReturnType<typeof aClient>>;

describe('an owner request with an idempotency key', () => {
  let client: Client;
  let id: string;
  beforeEach(async () => {
    client = await given.client();
    id = await client.subscribe(given.receiver.url);
  });

  const send = (path: string, body: object, key: string) =>
    client.post(body, `/${id}${path}`, { 'idempotency-key': key });
  const deliveries = async () => (await client.get(`/${id}/deliveries`)).body.data;
  /** Publishes an event. Returns the id of its delivery when it has succeeded. */
  const deliver = async (): Promise<string> => {
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(allHaveStatus(1, 'succeeded'));
    return (await deliveries())[0].id;
  };

  it('sends one test event for many requests, which count once against the quota', async () => {
    const key = randomUUID();
    const responses = await Promise.all(Array.from({ length: 15 }, () => send('/test', {}, key)));
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses[0]?.status).toBe(202);
    expect(responses.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(14);
    expect(new Set(responses.map(({ headers }) => headers['location'])).size).toBe(1);
    expect(await deliveries()).toHaveLength(1);
    const other = await send('/test', { event: 'order.shipped' }, key).expect(409);
    expect(other.body.details).toEqual([{ field: 'idempotency-key', reason: 'body_mismatch' }]);
    // The quota is ten tests in a minute.
    for (let count = 1; count < 10; count += 1) await send('/test', {}, randomUUID()).expect(202);
    await send('/test', {}, randomUUID()).expect(429);
    await send('/test', {}, key).expect(202);
  });

  it('retries a delivery once for a repeated request, also if that attempt has ended', async () => {
    const delivery = await deliver();
    const key = randomUUID();
    const path = `/deliveries/${delivery}/retry`;
    const first = await send(path, {}, key).expect(202);
    const attempts = async () => (await client.get(`/${id}/deliveries/${delivery}`)).body.attempt_count;
    await given.deliveriesWhen(allHaveStatus(1, 'succeeded'));
    const repeated = await send(path, {}, key).expect(202);
    expect([repeated.text, repeated.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    await given.deliveriesWhen(allHaveStatus(1, 'succeeded'));
    expect(await attempts()).toBe(2);
    const another = (await client.post({}, `/${id}/test`).expect(202)).body.id;
    await send(`/deliveries/${another}/retry`, {}, key).expect(409);
  });

  it('returns the same recovery to repeated requests, which do not count against the quota of six', async () => {
    const key = randomUUID();
    const span = { since: '2026-01-01T00:00:00Z', statuses: ['failed'] };
    const [first, second] = await Promise.all([send('/recover', span, key), send('/recover', span, key)]);
    expect([first?.status, second?.status, second?.text]).toEqual([202, 202, first?.text]);
    for (let count = 0; count < 10; count += 1) {
      const repeated = await send('/recover', span, key).expect(202);
      expect(repeated.headers['idempotent-replayed']).toBe('true');
    }
    await send('/recover', { ...span, statuses: ['held'] }, key).expect(409);
  });

  it('leaves the key unused when it was rejected', async () => {
    const key = randomUUID();
    await client.post({}, '/whk_00000000000000000000000000/test', { 'idempotency-key': key }).expect(404);
    await send('/deliveries/whd_00000000000000000000000000/retry', {}, key).expect(404);
    const sent = await send('/test', {}, key).expect(202);
    expect(sent.headers['idempotent-replayed']).toBeUndefined();
  });
});
