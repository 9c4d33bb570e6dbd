import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { haveStatuses, orderCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';

/** Number of the next lookups that fail. */
let failingLookups = 0;
const newClient = () =>
  new GuardedClient({
    allowLoopback: true,
    resolve: () => {
      failingLookups -= 1;
      return failingLookups < 0
        ? Promise.resolve([{ address: '127.0.0.1', family: 4 }])
        : Promise.reject(Object.assign(new Error('no response'), { code: 'ESERVFAIL', syscall: 'queryA' }));
    },
  });

describe('while the name server on our side does not respond', () => {
  const failedAttempts = 5;
  const given = setUpWorker(
    {
      WEBHOOK_RETRY_SCHEDULE_MS: '0,10,10,10', // four attempts alone would not reach the successful lookup
      WEBHOOK_DISABLE_FAILURES: '2',
      WEBHOOK_DISABLE_AFTER_MS: '0',
    },
    { client: newClient() },
  );

  it('attempts are recorded, do not count against the receiver, and the delivery succeeds later', async () => {
    const owner = await given.client();
    failingLookups = 1 + failedAttempts; // the first is that of the subscription request
    const id = await owner.subscribe(given.receiver.url.replace('127.0.0.1', 'localhost'));
    await given.publish(orderCreated(owner.creatorId));
    const [row] = await given.deliveriesWhen(haveStatuses('succeeded'));
    expect(row?.outcomes).toEqual([...Array(failedAttempts).fill('dns_error'), 'succeeded']);
    expect((await owner.get(`/${id}`)).body).toMatchObject({
      status: 'active',
      consecutive_failures: 0,
      last_failure_at: null,
    });
  });
});

const exhaust = statement(
  'test.exhaust',
  `UPDATE webhook_deliveries SET status = 'failed', failure_reason = 'exhausted', completed_at = now(), next_attempt_at = NULL
   WHERE subscription_id = $1`,
);

describe('a failure on our side after a recovery', () => {
  // The last step, a day, would be too long for the test.
  const given = setUpWorker({ WEBHOOK_RETRY_SCHEDULE_MS: '0,1,86400000' }, { client: newClient() });

  it('delays the delivery as at the start of its schedule', async () => {
    const owner = await given.client();
    const id = await owner.subscribe(given.receiver.url.replace('127.0.0.1', 'localhost'));
    // Each attempt opens a connection, and so makes a lookup.
    given.receiver.respondWith((response) => response.writeHead(500, { connection: 'close' }).end());
    await given.publish(orderCreated(owner.creatorId));
    await given.deliveriesWhen((rows) =>
      rows.some(({ attempt_count: count, status }) => count === 2 && status === 'retrying'),
    );
    await given.stores.database.run(exhaust, [parsePublicId('whk', id)]);
    given.receiver.respondWith((response) => response.end());
    failingLookups = 1;
    await owner.post({ since: '2020-01-01T00:00:00Z' }, `/${id}/recover`).expect(202);
    const [row] = await given.deliveriesWhen(haveStatuses('succeeded'));
    expect(row?.outcomes).toEqual(['http_error', 'http_error', 'dns_error', 'succeeded']);
  });
});
