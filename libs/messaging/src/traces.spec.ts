import { type Message, messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { type ScratchDatabase, scratchDatabase } from '@fulfilment/database/testing';
import { createLogger, traceparentOfEffect } from '@fulfilment/runtime';
import { type RecordedSpans, recordSpans } from '@fulfilment/runtime/testing';
import { eventually } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { forEachMessage, Messaging } from './index.js';
import type { MessageConsumer } from './consuming/message-consumer.js';
import { MessagingTestTables1700000000000 } from './testing/effects-replica.js';
import { type ScratchBroker, scratchBroker } from './testing/scratch-broker.js';

const doNothing = statement('test.nothing', 'SELECT');
const randomHex = () => randomUUID().replaceAll('-', '');
const parentId = 'c'.repeat(16);
const stockSet = (traceparent?: string): Message =>
  messages.fulfilmentStockSet.make(
    { sku: 'prod_x', quantity: 1 },
    { occurredAt: new Date(), ...(traceparent !== undefined && { traceparent }) },
  );
const type = 'fulfilment.stock_set';
/** Status codes of OpenTelemetry. */
const [unset, failed] = [0, 2];

describe('the trace of a message', () => {
  let scratch: ScratchDatabase;
  let broker: ScratchBroker;
  let messaging: Messaging;
  let recorded: RecordedSpans;
  let handle: MessageConsumer['handle'];
  let traceIds: string[];

  beforeAll(async () => {
    scratch = await scratchDatabase([MessagingTestTables1700000000000]);
    broker = await scratchBroker(['store-api.fulfilment']);
    messaging = new Messaging(
      { url: broker.url, service: 'test', namespace: broker.namespace },
      scratch.database,
      createLogger('test', 'silent'),
    );
    messaging.consume({
      queue: 'store-api.fulfilment',
      batchSize: 50,
      mayShareTransaction: () => true,
      handle: (tx, batch) => handle(tx, batch),
    });
    messaging.start();
  });
  afterAll(async () => {
    await messaging.stop();
    await broker.drop();
    await scratch.drop();
  });
  beforeEach(() => {
    recorded = recordSpans();
    traceIds = [randomHex(), randomHex()];
    handle = async (tx: Transaction) => {
      await tx.run(doNothing);
    };
  });
  afterEach(() => recorded.stop());

  /** Returns the spans of this test, since messages of an earlier one may still arrive. */
  const spansNamed = (name: string) =>
    recorded.named(name).filter((span) => traceIds.includes(span.spanContext().traceId));
  /** Resolves with the spans of handled messages, once there are `count`. */
  const untilProcessed = (count: number) =>
    eventually(() => {
      const spans = spansNamed(`process ${type}`);
      return spans.length >= count ? spans : undefined;
    });
  const traceparentWith = (flags = '01', traceId = traceIds[0]) => `00-${traceId}-${parentId}-${flags}`;
  const isOfThisTest = ({ traceparent }: Message) => traceIds.some((id) => traceparent?.includes(id));

  it('contains the outbox, the sending and the transaction of the consumer', async () => {
    const message = stockSet(traceparentWith());
    await scratch.database.transaction((tx) => messaging.outbox.add(tx, message));
    const [processSpan] = await untilProcessed(1);
    const [send] = await eventually(() => {
      const sent = spansNamed(`send ${type}`);
      return sent.length > 0 ? sent : undefined;
    });
    const [create] = spansNamed(`create ${type}`);
    const [transaction] = spansNamed('transaction inbox.claim');
    const created = create?.spanContext().spanId;
    expect(create?.parentSpanContext).toMatchObject({ traceId: traceIds[0], spanId: parentId });
    expect(send?.parentSpanContext).toMatchObject({ traceId: traceIds[0], spanId: created });
    expect(processSpan?.parentSpanContext).toMatchObject({ traceId: traceIds[0], spanId: created });
    expect(transaction?.parentSpanContext?.spanId).toBe(processSpan?.spanContext().spanId);
    expect(transaction?.attributes['db.query.summary']).toBe('inbox.claim test.nothing');
    expect(processSpan?.attributes).toMatchObject({
      'messaging.system': 'rabbitmq',
      'messaging.destination.name': 'store-api.fulfilment',
      'messaging.message.id': message.id,
    });
  });

  it('stays separate when messages of several traces share a transaction', async () => {
    const handled: (string | undefined)[] = [];
    handle = (_tx, batch) => {
      handled.push(...batch.filter(isOfThisTest).map(({ traceparent }) => traceparent));
      return Promise.resolve();
    };
    await broker.publish(...traceIds.map((id) => stockSet(traceparentWith('01', id))));
    const spans = (await untilProcessed(2)).map((span) => span.spanContext());
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set(traceIds));
    expect(new Set(handled)).toEqual(new Set(spans.map((span) => `00-${span.traceId}-${span.spanId}-01`)));
  });

  it('continues in the messages of a handler of batches, which states their traceparent', async () => {
    const cause = stockSet(traceparentWith());
    handle = async (tx, batch) => {
      for (const { id, traceparent } of batch.filter((message) => message.id === cause.id))
        await messaging.outbox.add(tx, stockSet(traceparentOfEffect(traceparent, id)));
    };
    await broker.publish(cause);
    const [processSpan] = await untilProcessed(1);
    const [create] = spansNamed(`create ${type}`);
    expect(create?.parentSpanContext?.spanId).toBe(processSpan?.spanContext().spanId);
  });

  it('continues in the messages of a `forEachMessage` handler, which states no traceparent', async () => {
    const cause = stockSet(traceparentWith());
    handle = forEachMessage(async (tx, { id }) => {
      if (id === cause.id) await messaging.outbox.add(tx, stockSet());
    });
    await broker.publish(cause);
    const [processSpan] = await untilProcessed(1);
    const [create] = spansNamed(`create ${type}`);
    expect(create?.parentSpanContext?.spanId).toBe(processSpan?.spanContext().spanId);
  });

  it('has a span for each attempt of a message that fails once', async () => {
    let hasFailed = false;
    handle = (_tx, batch) => {
      if (hasFailed || !batch.some(isOfThisTest)) return Promise.resolve();
      hasFailed = true;
      return Promise.reject(new TypeError('a failure'));
    };
    await broker.publish(stockSet(traceparentWith()));
    expect(await untilProcessed(2)).toMatchObject([
      { status: { code: failed }, attributes: { 'error.type': 'TypeError' } },
      { status: { code: unset } },
    ]);
  });

  it('is not sampled if the received traceparent is not sampled', async () => {
    const { promise: handled, resolve } = Promise.withResolvers<string | undefined>();
    handle = (_tx, batch) => {
      for (const { traceparent } of batch.filter(isOfThisTest)) resolve(traceparent);
      return Promise.resolve();
    };
    await broker.publish(stockSet(traceparentWith('00')));
    expect(await handled).toMatch(new RegExp(`^00-${traceIds[0]}-[0-9a-f]{16}-00$`));
    // The span of a later, sampled message shows that none was recorded for the first one.
    await broker.publish(stockSet(traceparentWith('01', traceIds[1])));
    const spans = await untilProcessed(1);
    expect(spans.map((span) => span.spanContext().traceId)).toEqual([traceIds[1]]);
  });
});
