import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { dayFromNow, writeDue } from '../../test/due-deliveries.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { haveStatuses } from '../../test/webhook-worker.fixture.js';
import type { Lane } from '../../dispatch-queue/lanes.rules.js';

const given = setUpWorker();

const setLane = statement('test.set-lane', 'UPDATE webhook_subscriptions SET lane = $2 WHERE id = $1');

const lostMessage =
  'Due deliveries were neither in flight nor queued in this process; they are queued again.';

describe('due deliveries without a wake-up', () => {
  // A second more than the time after which the reconciler logs them.
  it.each<[Lane, number]>([
    ['fast', 5],
    ['slow', 61],
  ])('are sent, and logged as overdue in the %s lane after %i seconds', async (lane, forSeconds) => {
    const client = await given.client();
    const uuid = parsePublicId('whk', await client.subscribe(given.receiver.url)) ?? '';
    await given.stores.database.run(setLane, [uuid, lane]);
    const loggedCount = () => given.worker.logged(lostMessage).length;
    const loggedBefore = loggedCount();
    await writeDue(given.stores.database, uuid, { day: dayFromNow(0), forSeconds });
    given.worker.reconcile();
    await given.deliveriesWhen(haveStatuses('succeeded'));
    expect(given.receiver.deliveries).toHaveLength(1);
    expect(loggedCount()).toBeGreaterThan(loggedBefore);
  });
});
