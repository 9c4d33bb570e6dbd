import { messages, publicId } from '@fulfilment/contracts';
import { eventually } from '@fulfilment/testing';
import { type Channel, connect } from 'amqplib';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type Creator,
  withoutRepetitions,
} from '../test/store-api.fixture.js';

const guide = readFileSync(new URL('../../../../docs/warehouses.md', import.meta.url), 'utf8');
const program = /^```ts warehouse\n([^]*?)^```/m.exec(guide)?.[1] ?? '';
const dir = mkdtempSync(join(tmpdir(), 'warehouse-'));

describe('the program of docs/warehouses.md', () => {
  let store: StoreApiUnderTest;
  let creator: Creator;
  let sku: string;
  let warehouse: ChildProcess | undefined;
  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
    ({ sku } = await store.release(creator.id));
  });
  afterAll(async () => {
    await kill();
    await withChannel((channel) => channel.deleteQueue(queueName()));
    await store.stop();
    rmSync(dir, { recursive: true });
  });

  const queueName = () => `${store.broker.namespace}.warehouse.orders`;
  async function withChannel<T>(use: (channel: Channel) => Promise<T>): Promise<T> {
    const connection = await connect(store.broker.url);
    connection.on('error', () => undefined);
    try {
      const channel = await connection.createChannel();
      channel.on('error', () => undefined); // `use` is rejected as well, for example if the queue is missing
      return await use(channel);
    } finally {
      await connection.close();
    }
  }
  const isConsuming = async (): Promise<boolean> => {
    try {
      return (await withChannel((channel) => channel.checkQueue(queueName()))).consumerCount > 0;
    } catch {
      return false; // the queue does not exist
    }
  };

  function start(): void {
    warehouse = spawn(
      process.execPath,
      ['--no-warnings', '--input-type=module-typescript', '--eval', program],
      {
        env: {
          ...process.env,
          NODE_OPTIONS: '',
          RABBITMQ_URL: store.broker.url,
          NAMESPACE: store.broker.namespace,
          DATABASE: join(dir, 'warehouse.db'),
        },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
  }
  async function kill(): Promise<void> {
    if (warehouse?.exitCode !== null) return; // not started, or ended already
    const ended = once(warehouse, 'exit');
    warehouse.kill('SIGKILL');
    await ended;
  }
  const place = async (): Promise<string> => {
    const rate = await store.quote(creator.token);
    return (await store.post('/store/v1/orders', creator.token, orderBody(sku, rate, 2))).body.id;
  };
  const read = (id: string) => store.readOrder(creator, id);
  const untilShipped = (id: string) =>
    eventually(async () => {
      const order = await read(id);
      return order.status === 'shipped' ? order : undefined;
    });
  const shipmentsOf = (id: string) =>
    withoutRepetitions(store.broker.published).filter(
      (message) => messages.fulfilmentShipped.is(message) && message.data.order_id === id,
    );
  /** The `order.processing` message of an order. */
  const processingMessageOf = (id: string) =>
    eventually(() =>
      store.broker.published.find(
        (message) => messages.orderProcessing.is(message) && publicId('ord', message.data.order.id) === id,
      ),
    );

  it('ships each paid order once, even after it was killed, and ships no cancelled order', async () => {
    start();
    await eventually(isConsuming); // its queue does not receive orders that were placed before
    const first = await place();
    expect((await untilShipped(first)).tracking.packages).toMatchObject([{ items: [{ sku, quantity: 2 }] }]);

    await kill();
    const cancelled = await place();
    await store.post(`/store/v1/orders/${cancelled}/cancel`, creator.token, {}).expect(200);
    const cancellation = await eventually(() =>
      store.broker.published.find(({ type }) => type === 'order.cancelled'),
    );
    // Replaces the queued messages by a repetition, and by the cancelled order's messages in reverse order.
    await withChannel((channel) => channel.purgeQueue(queueName()));
    await store.broker.publish(
      await processingMessageOf(first),
      cancellation,
      await processingMessageOf(cancelled),
    );
    const second = await place();
    start();
    await untilShipped(second);
    const last = await place(); // when it is shipped, all earlier messages of the queue are handled
    await untilShipped(last);
    expect([first, second, cancelled, last].map((id) => shipmentsOf(id).length)).toEqual([1, 1, 0, 1]);
    expect((await read(cancelled)).status).toBe('cancelled');
    expect(await store.broker.takeDeadLetters('store-api.fulfilment')).toEqual([]);
  });
});
