/** Tests of where the relay starts to read, also while an old snapshot keeps deleted rows in the index. */
import { messages, type Message } from '@fulfilment/contracts';
import {
  Database,
  type Sql,
  statement,
  type Transaction,
  type TransactionOptions,
} from '@fulfilment/database';
import { Messaging } from '../index.js';
import { createLogger } from '@fulfilment/runtime';
import { MessagingTestTables1700000000000, stockSetMessages, stockSet } from '../testing/effects-replica.js';
import { eventually } from '@fulfilment/testing';
import { type ScratchBroker, scratchBroker } from '../testing/scratch-broker.js';
import {
  blocksRead,
  executedPlan,
  type ScratchDatabase,
  scratchDatabase,
} from '@fulfilment/database/testing';

const stayIdle = statement('test.stay-idle', 'SET LOCAL idle_in_transaction_session_timeout = 0');
const countOutbox = statement('test.outbox', 'SELECT count(*) AS waiting FROM outbox');

/** Records how many blocks each poll of the outbox reads. */
class ObservedDatabase extends Database {
  readonly blocksOfPolls: number[] = [];

  override transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result> {
    return super.transaction((tx) => {
      const rows: Sql['rows'] = async (query, values) => {
        if (query.name === 'outbox.lock-batch') {
          const [root] = await executedPlan(tx, query, values);
          this.blocksOfPolls.push(blocksRead(root));
        }
        return tx.rows(query, values);
      };
      return work({ ...tx, rows });
    }, options);
  }
}

describe('the outbox relay', () => {
  let scratch: ScratchDatabase;
  let broker: ScratchBroker;
  let database: ObservedDatabase;
  let messaging: Messaging | undefined;

  /**
   * Starts a service that only sends.
   * @param outboxTimes how far the start of the scan stays behind, and the time between full scans
   */
  const start = (outboxTimes: { lagMs: number; fullScanMs: number }): Messaging => {
    messaging = new Messaging(
      { url: broker.url, service: 'test', namespace: broker.namespace, outboxTimes },
      database,
      createLogger('test', 'silent'),
    );
    messaging.start();
    return messaging;
  };
  const add = ({ outbox }: Messaging, ...sent: readonly Message[]) =>
    scratch.database.transaction((tx) => outbox.add(tx, ...sent));
  const untilEmpty = () =>
    eventually(async () => (await scratch.database.row<{ waiting: number }>(countOutbox))?.waiting === 0, {
      describe: () => 'the outbox is not empty',
    });

  beforeEach(async () => {
    scratch = await scratchDatabase([MessagingTestTables1700000000000]);
    broker = await scratchBroker([]);
    database = new ObservedDatabase(scratch.dataSource);
  });
  afterEach(async () => {
    await messaging?.stop();
    await broker.drop();
    await scratch.drop();
  });

  it('soon stops reading the index entries of sent messages, although an old snapshot keeps them', async () => {
    const snapshot = await scratch.database.begin({ snapshot: true });
    await snapshot.tx.run(stayIdle);
    await snapshot.tx.row(countOutbox); // takes the snapshot
    const sender = start({ lagMs: 20, fullScanMs: 600_000 }); // no full scan during the test
    for (let round = 0; round < 8; round += 1) {
      await add(sender, ...stockSetMessages(1000));
      await untilEmpty();
    }
    const before = database.blocksOfPolls.length;
    // At least three polls without messages.
    await eventually(() => database.blocksOfPolls.length > before + 2);
    await add(sender, stockSet(1));
    await untilEmpty();
    await snapshot.rollback();
    // To read the entries of all 8,000 sent messages would take thousands of blocks. The start of the scan
    // follows later, so some polls read old entries; the last poll also locks a message.
    expect(Math.min(...database.blocksOfPolls.slice(before))).toBeLessThan(50);
    expect(database.blocksOfPolls.at(-1)).toBeLessThan(100);
  });

  it('finds a message with a lower position that commits long after higher ones were sent', async () => {
    const sender = start({ lagMs: 20, fullScanMs: 300 });
    const slow = await scratch.database.begin();
    const late = messages.fulfilmentStockSet.make({ sku: 'prod_x', quantity: 1 }, { occurredAt: new Date() });
    await sender.outbox.add(slow.tx, late);
    for (let round = 0; round < 5; round += 1) {
      await add(sender, stockSet(round));
      await eventually(() => broker.published.length > round);
    }
    await slow.commit();
    await eventually(() => broker.published.at(-1)?.id === late.id);
  });
});
