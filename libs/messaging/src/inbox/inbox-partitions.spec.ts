import { messages, type Message, uuidv7 } from '@fulfilment/contracts';
import { addDays, currentDay, dayPartition, partitionsOf, statement } from '@fulfilment/database';
import { type ScratchDatabase, scratchDatabase } from '@fulfilment/database/testing';
import { createLogger } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import {
  DeadLetterQueues,
  deleteExpiredInboxRows,
  findOutcome,
  InboxPartitions,
  RejectedMessage,
} from '../index.js';
import { firstIdOf } from './inbox-partitions.js';
import {
  appliedIds,
  MessagingTestTables1700000000000,
  type Replica,
  startReplica,
} from '../testing/effects-replica.js';
import { type ScratchBroker, scratchBroker } from '../testing/scratch-broker.js';

const queue = 'store-api.fulfilment';
const insertRow = statement(
  'test.insert-inbox',
  `INSERT INTO inbox (message_id, queue, outcome, handled_at) VALUES ($1, '${queue}', $2, now() - $3::interval)`,
);
const readPartitions = statement(
  'test.partitions',
  'SELECT tableoid::regclass::text AS name FROM inbox ORDER BY message_id',
);
const logger = createLogger('test', 'silent');
const dayMs = 86_400_000;
const daysAgo = (days: number): Date => new Date(Date.now() - days * dayMs);
const messageAt = (at: Date): Message =>
  messages.fulfilmentStockSet.make({ sku: 'prod_x', quantity: 1 }, { occurredAt: at });

let scratch: ScratchDatabase;
let partitions: InboxPartitions;

beforeEach(async () => {
  scratch = await scratchDatabase([MessagingTestTables1700000000000]);
  partitions = new InboxPartitions(scratch.database, logger);
});
afterEach(() => scratch.drop());

const partitionNames = async (): Promise<string[]> =>
  [...(await partitionsOf(scratch.database, 'inbox'))].toSorted();
/** Creates the partition of a day on which the service ran. */
const createDay = async (daysBack: number): Promise<string> => {
  const day = addDays(await currentDay(scratch.database), -daysBack);
  const name = dayPartition('inbox', day);
  await scratch.dataSource.query(
    `CREATE TABLE ${name} PARTITION OF inbox FOR VALUES FROM ('${firstIdOf(day)}') TO ('${firstIdOf(addDays(day, 1))}')`,
  );
  return name;
};

describe('the partitions of the inbox', () => {
  it('exist from today to two days ahead after several replicas created them concurrently', async () => {
    await Promise.all([1, 2, 3].map(() => new InboxPartitions(scratch.database, logger).round()));
    await partitions.round(); // a replica skips a day while another one creates it
    const today = await currentDay(scratch.database);
    const days = [0, 1, 2].map((ahead) => dayPartition('inbox', addDays(today, ahead)));
    expect(await partitionNames()).toEqual([...days, 'inbox_other_days']);
  });

  it('take the rows of their day from the default partition, and get later rows', async () => {
    await scratch.database.run(insertRow, [uuidv7(), 'applied', '0']);
    await partitions.round();
    await scratch.database.run(insertRow, [uuidv7(), 'applied', '0']);
    const today = dayPartition('inbox', await currentDay(scratch.database));
    expect(await scratch.database.rows(readPartitions)).toEqual([{ name: today }, { name: today }]);
  });

  it('are dropped except today and the last seven days on which the service ran', async () => {
    const dropped = [await createDay(40), await createDay(39)];
    const kept = [];
    for (const daysBack of [38, 37, 36, 9, 8, 7, 1]) kept.push(await createDay(daysBack));
    await partitions.round();
    await partitions.round(); // counts the partition of today, which the first round created
    const remaining = await partitionNames();
    expect(remaining).toEqual(expect.arrayContaining(kept));
    for (const name of dropped) expect(remaining).not.toContain(name);
  });

  it('leave rows of messages that were not applied when they are dropped', async () => {
    for (const daysBack of [9, 8, 7, 6, 5, 4, 3, 2, 1]) await createDay(daysBack);
    const [applied, rejected] = [uuidv7(daysAgo(9)), uuidv7(daysAgo(9))];
    await scratch.database.run(insertRow, [applied, 'applied', '9 days']);
    await scratch.database.run(insertRow, [rejected, 'refused', '9 days']);
    await partitions.round();
    expect(await findOutcome(scratch.database, applied)).toBeUndefined();
    expect(await findOutcome(scratch.database, rejected)).toMatchObject({ outcome: 'refused' });
  });

  it('are created by a later round, without blocking writers for long, when a reader holds the table', async () => {
    const reader = await scratch.database.begin({ snapshot: true });
    await reader.tx.rows(readPartitions);
    const maintenance = partitions.round();
    await scratch.database.run(insertRow, [uuidv7(), 'applied', '0']);
    await maintenance;
    expect(await partitionNames()).toEqual(['inbox_other_days']);
    await reader.rollback();
    await partitions.round();
    expect(await partitionNames()).toHaveLength(3 + 1); // of three days, and the default partition
  });
});

describe('the clean-up of the default partition of the inbox', () => {
  it('deletes rows of applied messages after 30 days, of others after a year, and keeps those of other partitions', async () => {
    await partitions.round();
    const rows = [
      ['applied', '30 days 1 minute'],
      ['applied', '29 days'],
      ['refused', '364 days'],
      ['refused', '366 days'],
    ];
    const ids = rows.map(() => uuidv7(daysAgo(400))); // of a day without a partition
    for (const [index, row] of rows.entries()) await scratch.database.run(insertRow, [ids[index], ...row]);
    // These rows are in today's partition, at the same physical positions (ctid).
    for (const row of rows) await scratch.database.run(insertRow, [uuidv7(), ...row]);
    expect(await deleteExpiredInboxRows(scratch.database)).toBe(2);
    const outcomes = await Promise.all(ids.map((id) => findOutcome(scratch.database, id)));
    expect(outcomes.map((row) => row?.outcome)).toEqual([undefined, 'applied', 'refused', undefined]);
    expect(await scratch.database.rows(readPartitions)).toHaveLength(2 + rows.length);
  });
});

describe('a consumer', () => {
  let broker: ScratchBroker;
  let replica: Replica;
  let letters: DeadLetterQueues;
  let rejects = false;

  beforeEach(async () => {
    // Not shared: RabbitMQ redelivers a message whose acknowledgement is lost when its consumer stops.
    broker = await scratchBroker([queue]);
    letters = await DeadLetterQueues.open(broker);
    rejects = false;
    const { url, namespace } = broker;
    replica = await startReplica({
      databaseUrl: scratch.url,
      url,
      namespace,
      queue,
      onHandle: () => {
        if (rejects) throw new RejectedMessage('not now');
      },
    });
  });
  afterEach(async () => {
    await replica.stop();
    await letters.close();
    await broker.drop();
  });

  const untilDeadLetters = (count: number) => eventually(async () => (await letters.count(queue)) >= count);
  const untilHandled = ({ id }: Message, outcome: string) =>
    eventually(async () => (await findOutcome(scratch.database, id))?.outcome === outcome);
  /** The service runs for eight more days, and drops the day before them. */
  const dropDay9 = async () => {
    for (const daysBack of [8, 7, 6, 5, 4, 3, 2, 1]) await createDay(daysBack);
    await eventually(async () => {
      await partitions.round();
      // Eight days, today, two days ahead, and the default partition.
      return (await partitionNames()).length === 8 + 3 + 1;
    });
  };

  it('handles a message once if a copy arrives after its row has moved to a new partition', async () => {
    const message = messageAt(new Date());
    await broker.publish(message);
    await untilHandled(message, 'applied');
    await partitions.round();
    const last = messageAt(new Date());
    await broker.publish(message, last);
    await untilHandled(last, 'applied');
    expect(await appliedIds(scratch.database)).toEqual([message.id, last.id]);
  });

  it('handles messages of 500 and of 7 days ago, whose days were not dropped', async () => {
    await createDay(9);
    await dropDay9();
    const [older, newer] = [messageAt(daysAgo(500)), messageAt(daysAgo(7))];
    await broker.publish(older, newer);
    await untilHandled(newer, 'applied');
    expect(await appliedIds(scratch.database)).toEqual([older.id, newer.id]);
  });

  it('dead-letters messages of a dropped day, handled or not, and handles a replayed one once', async () => {
    await createDay(9);
    const message = messageAt(daysAgo(9));
    const another = messageAt(daysAgo(9));
    await broker.publish(message);
    await untilHandled(message, 'applied');
    await dropDay9();
    const recent = messageAt(new Date());
    await broker.publish(message, another, recent);
    await untilDeadLetters(2);
    await untilHandled(recent, 'applied');
    expect(await appliedIds(scratch.database)).toEqual([message.id, recent.id]);
    expect((await letters.list(queue))[0]?.reason).toContain('older than the inbox');
    await letters.replay(queue, another.id);
    await untilHandled(another, 'applied');
    const last = messageAt(new Date());
    await broker.publish(another, last);
    await untilHandled(last, 'applied');
    expect(await appliedIds(scratch.database)).toEqual([message.id, recent.id, another.id, last.id]);
  });

  it('handles no further copy of a message from a dropped day after it rejected one', async () => {
    await createDay(9);
    const message = messageAt(daysAgo(9));
    await broker.publish(message);
    await untilHandled(message, 'applied');
    await dropDay9();
    await broker.publish(message);
    await untilHandled(message, 'refused');
    const recent = messageAt(new Date());
    await broker.publish(message, recent);
    await untilHandled(recent, 'applied');
    expect(await appliedIds(scratch.database)).toEqual([message.id, recent.id]);
    await untilDeadLetters(2);
  });

  it('applies a replayed dead letter once after its day was dropped', async () => {
    await createDay(9);
    rejects = true;
    const message = messageAt(daysAgo(9));
    await broker.publish(message);
    await untilHandled(message, 'refused');
    await dropDay9();
    rejects = false;
    await letters.replay(queue);
    await untilHandled(message, 'applied');
    const last = messageAt(new Date());
    await broker.publish(message, last);
    await untilHandled(last, 'applied');
    expect(await appliedIds(scratch.database)).toEqual([message.id, last.id]);
  });
});
