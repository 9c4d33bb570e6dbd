import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { aClient, allHaveStatus, orderCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';

const given = setUpWorker();

type Client = Awaited<ReturnType<typeof aClient>>;

const recordRetries = statement(
  'test.record-retries',
  "INSERT INTO webhook_owner_requests VALUES ($1, 'retry', array_fill(now(), ARRAY[$2::int]))",
);

/** Repeats a retry while the previous one runs (409). Returns the final status. */
async function retryWhenIdle(client: Client, id: string, delivery: string): Promise<number> {
  for (;;) {
    const { status } = await client.post({}, `/${id}/deliveries/${delivery}/retry`);
    if (status !== 409) return status;
  }
}

describe('the quota of owner requests', () => {
  it('is ten test events a minute for a subscription, including their manual retries', async () => {
    const client = await given.client();
    const [id, other] = [
      await client.subscribe(given.receiver.url),
      await client.subscribe(given.receiver.url),
    ];
    const test = (await client.post({}, `/${id}/test`).expect(202)).body.id;
    for (let count = 2; count < 10; count += 1) await client.post({}, `/${id}/test`).expect(202);
    await given.deliveriesWhen(allHaveStatus(9, 'succeeded'));
    expect(await retryWhenIdle(client, id, test)).toBe(202);
    for (const path of [`/${id}/deliveries/${test}/retry`, `/${id}/test`]) {
      const { headers } = await client.post({}, path).expect(429);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    await client.post({}, `/${other}/test`).expect(202);
  });

  it('is sixty manual retries of other events a minute, in addition to test events', async () => {
    const { client, id } = await given.subscriber();
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(allHaveStatus(1, 'succeeded'));
    const [listed] = (await client.get(`/${id}/deliveries`)).body.data;
    await given.stores.database.run(recordRetries, [parsePublicId('whk', id), 59]);
    expect(await retryWhenIdle(client, id, listed.id)).toBe(202);
    const { headers } = await client.post({}, `/${id}/deliveries/${listed.id}/retry`).expect(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    await client.post({}, `/${id}/test`).expect(202);
  });
});
