import { GuardedClient } from '@fulfilment/guarded-fetch';
import { webhookReceiver } from '@fulfilment/testing';
import {
  aClient,
  deliveriesWhen,
  orderCreated,
  startWorker,
  webhookStores,
} from '../webhook-worker.fixture.js';

describe('while the name server on our side does not respond', () => {
  it('attempts are recorded, do not count against the receiver, and the delivery succeeds later', async () => {
    const stores = await webhookStores();
    const receiver = await webhookReceiver();
    let lookups = 0;
    const client = new GuardedClient({
      allowLoopback: true,
      resolve: () => {
        lookups += 1;
        return lookups > 6
          ? Promise.resolve([{ address: '127.0.0.1', family: 4 }])
          : Promise.reject(Object.assign(new Error('no response'), { code: 'ESERVFAIL', syscall: 'queryA' }));
      },
    });
    // Subscribing makes the first lookup, and each attempt one more. The four attempts of the schedule alone
    // would end at the fifth lookup.
    const worker = await startWorker(
      stores,
      {
        WEBHOOK_RETRY_SCHEDULE_MS: '0,10,10,10',
        WEBHOOK_DISABLE_FAILURES: '2',
        WEBHOOK_DISABLE_AFTER_MS: '0',
      },
      client,
    );
    try {
      const owner = await aClient(stores, worker);
      const id = await owner.subscribe(receiver.url.replace('127.0.0.1', 'localhost'));
      await stores.broker.publish(orderCreated(owner.creatorId));
      const [row] = await deliveriesWhen(stores, ([only]) => only?.status === 'succeeded');
      expect(row?.outcomes).toEqual([...Array.from({ length: 5 }, () => 'dns_error'), 'succeeded']);
      expect((await owner.get(`/${id}`)).body).toMatchObject({
        status: 'active',
        consecutive_failures: 0,
        last_failure_at: null,
      });
    } finally {
      await worker.stop();
      await receiver.stop();
      await stores.stop();
    }
  });
});
