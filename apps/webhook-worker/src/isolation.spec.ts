import { createDataSource, Database, statement } from '@fulfilment/database';
import { patientTimeouts, untilLockWaits } from '@fulfilment/database/testing';
import { parsePublicId, publicId } from '@fulfilment/contracts';
import {
  eventually,
  type ReceivedDelivery,
  webhookReceiver,
  type WebhookReceiver,
} from '@fulfilment/testing';
import type { DataSource } from 'typeorm';
import { attemptOf } from './delivery/delivery-check.fixture.js';
import { writeHistory } from './test/history.fixture.js';
import {
  aClient,
  ordersCreated,
  startWorker,
  type WebhookStores,
  webhookStores,
  type Worker,
} from './test/webhook-worker.fixture.js';

/** Enough for lists that read many rows. The benchmark `npm run bench -- growth` has ten million. */
const pastDeliveries = 60_000;
const requestPoolSize = 7;
const readerCount = 12; // more than the pool has connections
const eventCount = 100;
const since = '2020-01-01T00:00:00Z';
const filters = [
  '',
  '?status=failed',
  '?status=succeeded',
  '?event=order.cancelled',
  '?test=true',
  '?status=held',
];

let stores: WebhookStores;
let worker: Worker;
let pools: Readonly<Record<'database' | 'background' | 'delivery', Database>>;
const sources: DataSource[] = [];

beforeAll(async () => {
  stores = await webhookStores();
  const openPool = async (poolSize: number): Promise<Database> => {
    const source = createDataSource({
      url: stores.url,
      poolSize,
      ...patientTimeouts,
      applicationName: 'test',
      forceGenericPlan: true,
      migrations: [],
    });
    sources.push(source);
    return new Database(await source.initialize());
  };
  // The sizes of production (ADR 22).
  pools = {
    database: await openPool(requestPoolSize),
    background: await openPool(4),
    delivery: await openPool(5),
  };
  worker = await startWorker(stores, {}, pools);
});
afterAll(async () => {
  await worker.stop();
  await Promise.all(sources.map((source) => source.destroy()));
  await stores.stop();
});

let receivers: WebhookReceiver[];
beforeEach(() => {
  stores.resetCreators();
  receivers = [];
});
afterEach(() => Promise.all(receivers.map((receiver) => receiver.stop())));

async function aTenant() {
  const receiver = await webhookReceiver();
  receivers.push(receiver);
  const client = await aClient(stores, worker);
  const id = await client.subscribe(receiver.url);
  return { client, receiver, id, uuid: parsePublicId('whk', id) ?? '' };
}
type Tenant = Awaited<ReturnType<typeof aTenant>>;

const findDelivered = statement(
  'test.find-delivered',
  "SELECT FROM webhook_deliveries WHERE subscription_id = $1 AND status = 'succeeded'",
);

/** Publishes events for a tenant, and waits until each is delivered. Returns their ids. */
async function deliver({ client, uuid }: Tenant): Promise<string[]> {
  const events = ordersCreated(client.creatorId, eventCount);
  await stores.broker.publish(...events);
  await eventually(async () => (await stores.database.rows(findDelivered, [uuid])).length === eventCount);
  return events.map(({ id }) => publicId('evt', id));
}

const repeatedAttempts = (requests: readonly ReceivedDelivery[]): string[] => {
  const attempts = requests.map(attemptOf);
  return attempts.filter((attempt, index) => attempts.indexOf(attempt) !== index);
};

describe('the deliveries of a tenant', () => {
  it.each([
    { share: 'no', failedEvery: 0 },
    { share: 'few', failedEvery: 3_000 },
    { share: 'many', failedEvery: 2 },
  ])(
    'arrive once each while another tenant reads and recovers a history with $share failed deliveries in a loop',
    async ({ failedEvery }) => {
      const [noisy, quiet] = [await aTenant(), await aTenant()];
      await writeHistory(stores.database, noisy.uuid, { count: pastDeliveries, failedEvery });
      let isReading = true;
      const statuses = new Set<number>();
      const repeatWhileReading = async (
        send: (round: number) => PromiseLike<{ status: number }>,
      ): Promise<void> => {
        for (let round = 0; isReading; round += 1) statuses.add((await send(round)).status);
      };
      const noisyRequests = [
        ...Array.from({ length: readerCount }, (__, reader) =>
          repeatWhileReading((round) =>
            noisy.client.get(`/${noisy.id}/deliveries${filters[(reader + round) % filters.length]}`),
          ),
        ),
        repeatWhileReading(() => noisy.client.post({ since }, `/${noisy.id}/recover`)),
      ];
      const sent = await deliver(quiet);
      isReading = false;
      await Promise.all(noisyRequests);
      expect(quiet.receiver.deliveries.map(({ body }) => body.id).toSorted()).toEqual(sent.toSorted());
      expect(repeatedAttempts(noisy.receiver.deliveries)).toEqual([]);
      // 429: recoveries above the quota; 503: lists that took too long
      expect([...statuses].filter((status) => ![200, 202, 429, 503].includes(status))).toEqual([]);
      expect(statuses).toContain(200);
      await noisy.client.delete(noisy.id);
    },
  );

  it('arrive while requests hold all connections of their pool', async () => {
    const quiet = await aTenant();
    const openTransactions = await Promise.all(
      Array.from({ length: requestPoolSize }, () => pools.database.begin()),
    );
    try {
      const sent = await deliver(quiet);
      expect(quiet.receiver.deliveries.map(({ body }) => body.id).toSorted()).toEqual(sent.toSorted());
    } finally {
      for (const open of openTransactions) await open.rollback();
    }
  });
});

describe('a slow list request', () => {
  it('is aborted with 503 earlier than other statements, and succeeds once the table is unlocked', async () => {
    const tenant = await aTenant();
    const lock = statement('test.lock-table', 'LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE');
    let other: Promise<unknown> | undefined;
    await stores.database.transaction(async (tx) => {
      await tx.run(lock);
      let hasOtherEnded = false;
      const end = () => (hasOtherEnded = true);
      other = pools.database.rows(findDelivered, [tenant.uuid]).then(end, end);
      await untilLockWaits(stores.database);
      const { body, headers } = await tenant.client.get(`/${tenant.id}/deliveries`).expect(503);
      expect(hasOtherEnded).toBe(false);
      expect(body).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(headers['retry-after']).toBe('1');
    });
    await other;
    await tenant.client.get(`/${tenant.id}/deliveries`).expect(200);
  });
});
