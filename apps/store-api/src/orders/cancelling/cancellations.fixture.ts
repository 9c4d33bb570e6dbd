import { messages } from '@fulfilment/contracts';
import { atMinute, shipped } from '../../fulfilment/fulfilment.fixture.js';
import { newKey, type StoreApiUnderTest, startStoreApi, type Creator } from '../../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers } from '../order-helpers.fixture.js';

interface OrderOfCreator {
  readonly creator: Creator;
  readonly id: string;
}

/**
 * Starts the service for the tests of a file. Returns functions that place, cancel and ship orders, and read
 * their state.
 */
export function setUpCancellations() {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;
  beforeAll(async () => {
    // A charge without a response ends soon, and its order becomes due soon after that.
    store = await startStoreApi({
      PAYMENT_TIMEOUT_MS: '400',
      RESUME_AFTER_MS: '100',
      RATE_LIMIT_DEFAULT: '100000/60',
    });
    helpers = orderHelpers(store);
  });
  afterAll(() => store.stop());

  /** Orders three of ten pieces of a limited edition. */
  const place = async (
    paymentMethod?: string,
    idempotencyKey = newKey(),
  ): Promise<OrderOfCreator & { body: object }> => {
    const { creator, body } = await helpers.prepareOrder({ paymentMethod, stock: 10, pieces: 3 });
    const { body: order } = await helpers.place(creator, body, idempotencyKey);
    return { creator, id: order.id, body };
  };
  const cancel = async ({ creator, id }: OrderOfCreator, body: object = {}, idempotencyKey?: string) =>
    store.post(`/store/v1/orders/${id}/cancel`, creator.token, body, idempotencyKey);
  const read = ({ creator, id }: OrderOfCreator) => store.readOrder(creator, id);
  const shipmentOf = ({ id }: OrderOfCreator) => shipped(id, 'D1', atMinute(1));
  /**
   * Completes an order that was charged and cancelled, and expects that its charge is refunded, its stock
   * returned once, and `order.cancelled` published once.
   * @param events the types of the earlier messages about the order
   */
  const expectCancelledOnce = async (
    order: OrderOfCreator,
    events = ['order.created', 'order.processing'],
  ) => {
    await helpers.completeAll(order.creator);
    await store.resumeOrdersAndRefunds(); // a further round must change nothing
    expect(await read(order)).toMatchObject({ id: order.id, status: 'cancelled', tracking: null });
    expect(await helpers.providerCharges(order.creator)).toMatchObject([
      { outcome: 'succeeded', refunded: true },
    ]);
    expect(await helpers.stock(order.creator)).toEqual([10]);
    expect(await helpers.events(order.creator, 'order.')).toEqual([...events, 'order.cancelled']);
  };
  const cancelledMessage = async ({ creator }: OrderOfCreator) => {
    await helpers.waitUntilPublished();
    return store
      .published('order.cancelled')
      .map(({ data }) => messages.orderCancelled.schema.parse(data))
      .find(({ order }) => order.creator_id === creator.id);
  };
  return {
    // Getters, because `beforeAll` runs after this function has returned.
    get store() {
      return store;
    },
    get helpers() {
      return helpers;
    },
    place,
    cancel,
    read,
    shipmentOf,
    expectCancelledOnce,
    cancelledMessage,
  };
}
