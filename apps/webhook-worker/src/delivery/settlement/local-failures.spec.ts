import { GuardedClient } from '@fulfilment/guarded-fetch';
import { haveStatuses, orderCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';

const failedLookups = 5;
let lookups = 0;
const client = new GuardedClient({
  allowLoopback: true,
  resolve: () => {
    lookups += 1;
    // The first lookup is that of the subscription request, and each attempt makes one more.
    return lookups > 1 + failedLookups
      ? Promise.resolve([{ address: '127.0.0.1', family: 4 }])
      : Promise.reject(Object.assign(new Error('no response'), { code: 'ESERVFAIL', syscall: 'queryA' }));
  },
});

const given = setUpWorker(
  {
    WEBHOOK_RETRY_SCHEDULE_MS: '0,10,10,10', // four attempts alone would not reach the successful lookup
    WEBHOOK_DISABLE_FAILURES: '2',
    WEBHOOK_DISABLE_AFTER_MS: '0',
  },
  { client },
);

describe('while the name server on our side does not respond', () => {
  it('attempts are recorded, do not count against the receiver, and the delivery succeeds later', async () => {
    const owner = await given.client();
    const id = await owner.subscribe(given.receiver.url.replace('127.0.0.1', 'localhost'));
    await given.publish(orderCreated(owner.creatorId));
    const [row] = await given.deliveriesWhen(haveStatuses('succeeded'));
    expect(row?.outcomes).toEqual([...Array(failedLookups).fill('dns_error'), 'succeeded']);
    expect((await owner.get(`/${id}`)).body).toMatchObject({
      status: 'active',
      consecutive_failures: 0,
      last_failure_at: null,
    });
  });
});
