import { type Message, messages, parsePublicId, topologyOf } from '@fulfilment/contracts';
import { systemClock } from '@fulfilment/runtime';
import { publishReplay } from '@fulfilment/service-host/operator';
import { eventually } from '@fulfilment/testing';
import { connect } from 'amqplib';
import {
  orderBody,
  startStoreApi,
  type StoreApiUnderTest,
  type Creator,
} from '../../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers } from '../order-helpers.fixture.js';
import { replayOrders } from './replay-orders.js';

describe('replayed orders', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;
  let creator: Creator;
  let sku: string;
  let rate: string;
  beforeAll(async () => {
    store = await startStoreApi();
    helpers = orderHelpers(store);
    creator = await store.creator();
    ({ sku } = await store.release(creator.id));
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  const place = async (): Promise<string> => {
    const { body } = await store.post('/store/v1/orders', creator.token, orderBody(sku, rate));
    return parsePublicId('ord', body.id) ?? '';
  };
  const newestOf = (id: string) =>
    store
      .published('order.processing')
      .find((message) => messages.orderProcessing.is(message) && message.data.order.id === id);
  const ordersIn = (pages: readonly Message[][]) =>
    pages.flat().flatMap((message) => (messages.replayOrder.is(message) ? [message.data.order] : []));

  it('contain each order once, as in its newest message, while another one is placed', async () => {
    const ids = [await place(), await place(), await place(), await place(), await place()];
    const pages: Message[][] = [];
    for await (const page of replayOrders(store.database, systemClock, 2)) {
      pages.push(page);
      if (pages.length === 1) ids.push(await place());
    }
    expect(pages.map((page) => page.length)).toEqual([2, 2, 2]);
    const replayed = ordersIn(pages);
    expect(replayed.map(({ id }) => id)).toEqual(ids.sort());
    for (const order of replayed) {
      const newest = await eventually(() => newestOf(order.id)); // its message may not have arrived yet
      expect(newest).toMatchObject({ data: { order } });
    }
  });

  it('are published to one queue only, with the id of the last message in the result', async () => {
    await helpers.waitUntilPublished();
    const before = store.broker.published.length;
    // words: member of the command's output
    const { told: published, last_message_id: last } = await publishReplay(
      { RABBITMQ_URL: store.broker.url, RABBITMQ_NAMESPACE: store.broker.namespace },
      'creator-api.replay',
      replayOrders(store.database, systemClock, 4),
    );
    expect(published).toBe(6); // the orders of the test before
    const connection = await connect(store.broker.url);
    const channel = await connection.createChannel();
    const taken: unknown[] = [];
    const queue = topologyOf(store.broker.namespace).queue('creator-api.replay');
    await channel.consume(queue, (raw) => taken.push(raw?.properties.messageId), { noAck: true });
    await eventually(() => taken.length === published);
    await connection.close();
    expect(taken.at(-1)).toBe(last);
    expect(store.broker.published.length).toBe(before);
  });
});
