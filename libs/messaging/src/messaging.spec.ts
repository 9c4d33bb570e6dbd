import { messages, type Message } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { forEachMessage, messageOutcomes, Messaging, RejectedMessage } from './index.js';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { createLogger, currentContext, metrics } from '@fulfilment/runtime';
import { MessagingTestTables1700000000000, insertEffect } from './testing/effects-replica.js';
import { eventually, type FlakyProxy, flakyProxy } from '@fulfilment/testing';
import { type ScratchBroker, scratchBroker } from './testing/scratch-broker.js';
import { type ScratchDatabase, scratchDatabase } from '@fulfilment/database/testing';

const countEffects = statement(
  'test.count',
  'SELECT count(*) AS effects, count(DISTINCT message_id) AS distinct FROM effects',
);
const countOutbox = statement('test.outbox', 'SELECT count(*) AS waiting FROM outbox');
const deleteEffects = statement('test.delete', 'DELETE FROM effects');

// Not a sharded queue, since the declaration of its many RabbitMQ queues takes time.
const queue = 'webhook-worker.clients';
const clientDeleted = (): Message =>
  messages.clientDeleted.make({ client_id: 'a' }, { occurredAt: new Date() });
const clientsDeleted = (count: number): Message[] => Array.from({ length: count }, clientDeleted);

describe('messaging', () => {
  const lines: string[] = [];
  const logger = createLogger('test', 'info', { write: (line) => lines.push(line) });
  let scratch: ScratchDatabase;
  let broker: ScratchBroker;
  let proxy: FlakyProxy;
  let messaging: Messaging;
  /** Called by the handler before it writes the effect. */
  let onHandle: (message: Message) => void = () => undefined;

  const start = (): Messaging => {
    const created = new Messaging(
      { url: proxy.url, service: 'test', namespace: broker.namespace },
      scratch.database,
      logger,
    );
    created.consume({
      queue,
      batchSize: 50,
      mayShareTransaction: () => true,
      handle: forEachMessage(async (tx, message) => {
        onHandle(message);
        await tx.run(insertEffect, [message.id]);
      }),
    });
    created.start();
    return created;
  };
  const effectCounts = async () => scratch.database.row<{ effects: number; distinct: number }>(countEffects);
  const untilEffects = (count: number) =>
    eventually(
      // A test may terminate the connection of this query, so it is retried.
      async () => (await effectCounts().catch(() => undefined))?.effects === count,
      { describe: () => `there are not ${count} effects` },
    );

  beforeAll(async () => {
    scratch = await scratchDatabase([MessagingTestTables1700000000000]);
  });
  afterAll(() => scratch.drop());
  beforeEach(async () => {
    lines.length = 0;
    await scratch.database.run(deleteEffects);
    // Not shared: RabbitMQ redelivers a message whose acknowledgement is lost when its consumer stops.
    broker = await scratchBroker([queue]);
    proxy = await flakyProxy(broker.url);
    onHandle = () => undefined;
    messaging = start();
  });
  afterEach(async () => {
    await messaging.stop();
    await proxy.stop();
    await broker.drop();
  });

  it('delivers committed messages, no rolled-back ones, and leaves the outbox empty', async () => {
    const kept = clientsDeleted(1200); // more than two batches of the relay
    await scratch.database.transaction((tx) => messaging.outbox.add(tx, ...kept));
    await expect(
      scratch.database.transaction(async (tx) => {
        await messaging.outbox.add(tx, clientDeleted());
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await untilEffects(1200);
    await eventually(
      async () => (await scratch.database.row<{ waiting: number }>(countOutbox))?.waiting === 0,
    );
    // Without repetitions, since the relay repeats a batch that RabbitMQ confirmed too late.
    const publishedIds = () => [...new Set(broker.published.map(({ id }) => id))];
    await eventually(() => publishedIds().length >= kept.length);
    expect(publishedIds()).toEqual(kept.map(({ id }) => id));
  });

  it('runs the handler of each message in the trace of the message, or in a new one', async () => {
    const seen = new Map<string, string | undefined>();
    onHandle = (message) => seen.set(message.id, currentContext()?.traceparent);
    const [traced, untraced] = [
      { ...clientDeleted(), traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
      clientDeleted(),
    ];
    await broker.publish(traced, untraced);
    await untilEffects(2);
    expect(seen.get(traced.id)).toMatch(/^00-a{32}-(?!b{16})[0-9a-f]{16}-01$/); // a new span of the trace
    expect(seen.get(untraced.id)).toContain(`00-${untraced.id.replaceAll('-', '')}-`);
    expect(currentContext()).toBeUndefined();
  });

  it('handles a message once when five copies arrive', async () => {
    const message = clientDeleted();
    await broker.publish(message, message, message);
    // Messages arrive in order, so the effect of the last one shows that all were handled.
    await broker.publish(message, message, clientDeleted());
    await untilEffects(2);
    expect(await effectCounts()).toEqual({ effects: 2, distinct: 2 });
  });

  it('handles a message once if it is repeated with its id in upper case', async () => {
    const message = clientDeleted();
    await broker.publish({ ...message, id: message.id.toUpperCase() }, message);
    await broker.publish(clientDeleted()); // after both
    await untilEffects(2);
    expect(await effectCounts()).toEqual({ effects: 2, distinct: 2 });
  });

  it('dead-letters a rejected message with its reason, logs it, handles the rest, and applies a later copy', async () => {
    const rejected = clientDeleted();
    onHandle = (message) => {
      if (message.id === rejected.id) throw new RejectedMessage('not this client');
    };
    await broker.publish(clientDeleted(), rejected, clientDeleted());
    await untilEffects(2);
    const outcome = messageOutcomes(scratch.database);
    expect(await eventually(() => outcome(`/messages/${rejected.id}`))).toEqual({
      message_id: rejected.id,
      outcome: 'refused',
      reason: 'not this client',
    });
    expect(await broker.takeDeadLetters(queue)).toEqual(['not this client']);
    expect(lines.find((line) => line.includes('A message was rejected.'))).toContain(rejected.id);

    onHandle = () => undefined;
    await broker.publish(rejected);
    await untilEffects(3);
    expect(await outcome(`/messages/${rejected.id}`)).toMatchObject({ outcome: 'applied' });
  });

  it('dead-letters a message that is not JSON, and handles others', async () => {
    await broker.publishRaw('client.deleted', Buffer.from('{'));
    await broker.publish(clientDeleted());
    await untilEffects(1);
    expect(await eventually(async () => (await broker.takeDeadLetters(queue))[0])).toBe('not JSON');
  });

  it('records the outcome of an invalid message that has an id', async () => {
    const bad = { ...clientDeleted(), version: 9 };
    await broker.publishRaw(bad.type, Buffer.from(JSON.stringify(bad)));
    expect(await eventually(() => messageOutcomes(scratch.database)(`/messages/${bad.id}`))).toMatchObject({
      outcome: 'refused',
      reason: 'client.deleted has no version 9',
    });
  });

  it.each([
    ['a NUL, which PostgreSQL cannot store', '\0'],
    ['a text that is too long for an AMQP header', 'x'.repeat(200_000)],
  ])('dead-letters a message whose rejection reason contains %s, once', async (_case, unknownKey) => {
    const approved = messages.catalogueReleaseApproved.make({ release_id: 'x' }, { occurredAt: new Date() });
    const bad = { ...approved, data: { release_id: 'x', prices: { [unknownKey]: 1 } } };
    await broker.publishRaw('client.deleted', Buffer.from(JSON.stringify(bad)));
    expect(await eventually(() => messageOutcomes(scratch.database)(`/messages/${bad.id}`))).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('Unrecognized key'),
    });
    expect(await broker.takeDeadLetters(queue)).toHaveLength(1);
  });

  it('reports no outcome at a path without a message id', async () => {
    for (const path of ['/', '/messages/', '/messages/0', `/messages/${'-'.repeat(36)}`])
      expect(await messageOutcomes(scratch.database)(path)).toBeUndefined();
  });

  it('retries a message whose handler fails unexpectedly, and applies it', async () => {
    let failures = 2;
    onHandle = () => {
      if (failures > 0) {
        failures -= 1;
        throw new Error('a transient bug');
      }
    };
    await broker.publish(clientDeleted());
    await untilEffects(1);
  });

  it('handles a message after a restart when it was stopped during an outage of the database', async () => {
    const message = clientDeleted();
    const started = Promise.withResolvers<void>();
    onHandle = () => {
      started.resolve();
      throw new DependencyUnavailable('the database is away');
    };
    await broker.publish(message);
    await started.promise;
    await messaging.stop();
    onHandle = () => undefined;
    messaging = start();
    await untilEffects(1);
  });

  it('applies each message once when the database connections are lost during a handler', async () => {
    let ending: Promise<void> | undefined;
    onHandle = () => {
      ending ??= scratch.endConnections();
    };
    await broker.publish(clientDeleted(), clientDeleted());
    await untilEffects(2);
    await ending;
    const found = await eventually(() => effectCounts().catch(() => undefined)); // over a new connection
    expect(found).toEqual({ effects: 2, distinct: 2 });
  });

  it('retries a batch in a few parts, not one by one, when an outage ended its transaction', async () => {
    const countTransactions = statement(
      'test.transactions',
      'SELECT count(DISTINCT xmin::text) AS transactions FROM effects',
    );
    const sent = clientsDeleted(200);
    let ended = false;
    onHandle = ({ id }) => {
      if (id !== sent[40]?.id || ended) return;
      ended = true;
      throw new DependencyUnavailable('the server shuts down');
    };
    await messaging.stop();
    await broker.publish(...sent);
    messaging = start(); // all messages wait, so that the batches are full
    await untilEffects(200);
    expect(ended).toBe(true);
    const found = await scratch.database.row<{ transactions: number }>(countTransactions);
    // At least five batches, since the first message is alone; one batch is retried in parts.
    expect(found?.transactions).toBeLessThan(40);
  });

  /** Sends the frame of `connection.blocked` (AMQP 0-9-1), with the reason "x". */
  const reportAlarm = async () => {
    await eventually(() => messaging.connected);
    proxy.sendToClients(Buffer.from('01000000000006000a003c0178ce', 'hex'));
    await eventually(() => lines.some((text) => /"test, publishing".*blocks publishing/.test(text)));
  };
  /** Sends the frame of `connection.unblocked`. */
  const endAlarm = () => proxy.sendToClients(Buffer.from('01000000000004000a003dce', 'hex'));

  it('pauses publishing during a broker alarm, continues consuming, and publishes afterwards', async () => {
    await reportAlarm();
    const publishing = broker.publish(clientDeleted());
    await scratch.database.transaction((tx) => messaging.outbox.add(tx, clientDeleted()));
    await publishing;
    await untilEffects(1);
    expect(await scratch.database.row(countOutbox)).toEqual({ waiting: 1 });
    endAlarm();
    await untilEffects(2);
  });

  it('keeps a rejected message during a broker alarm, and dead-letters it once afterwards', async () => {
    await reportAlarm();
    onHandle = () => {
      throw new RejectedMessage('not now');
    };
    const rejections = () => lines.filter((line) => line.includes('A message was rejected.')).length;
    await broker.publish(clientDeleted());
    await eventually(() => rejections() === 1);
    // When RabbitMQ confirms this message, a dead letter published during the alarm would be in its queue.
    await broker.publish(clientDeleted());
    expect(await broker.takeDeadLetters(queue)).toEqual([]);
    endAlarm();
    const reasons: string[] = [];
    await eventually(async () => {
      reasons.push(...(await broker.takeDeadLetters(queue)));
      return reasons.length === 2;
    });
    expect(rejections()).toBe(2);
    expect(reasons).toEqual(['not now', 'not now']);
  });

  it('reports how long the oldest message has waited while the broker is down', async () => {
    const waiting = async () =>
      (await metrics.getSingleMetric('outbox_oldest_seconds')?.get())?.values[0]?.value;
    proxy.disconnect();
    await scratch.database.transaction((tx) => messaging.outbox.add(tx, clientDeleted()));
    await eventually(async () => Number(await waiting()) > 0.05);
    proxy.restore();
    await untilEffects(1);
    await eventually(async () => (await waiting()) === 0);
  });

  it('reconnects after its connection to the broker was closed', async () => {
    proxy.sever();
    await scratch.database.transaction((tx) => messaging.outbox.add(tx, clientDeleted()));
    await untilEffects(1);
  });

  it('rejects no message when the broker connection is lost during a handler', async () => {
    let cut = false;
    onHandle = () => {
      if (!cut) proxy.sever();
      cut = true;
    };
    const sent = [clientDeleted(), clientDeleted(), clientDeleted()];
    await broker.publish(...sent);
    await untilEffects(3);
    await scratch.database.transaction((tx) => messaging.outbox.add(tx, clientDeleted()));
    await untilEffects(4); // after all redelivered messages
    expect(await effectCounts()).toEqual({ effects: 4, distinct: 4 });
    expect(await broker.takeDeadLetters(queue)).toEqual([]);
  });
});
