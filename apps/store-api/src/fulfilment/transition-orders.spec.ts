import { messages } from '@fulfilment/contracts';
import { type OrderHelpers, orderHelpers } from '../orders/order-helpers.fixture.js';
import { atMinute, cancelled, corrected, delivered, shipped } from './fulfilment.fixture.js';
import { orderBody, type StoreApiUnderTest, startStoreApi, type Creator } from '../test/store-api.fixture.js';

let store: StoreApiUnderTest;
let helpers: OrderHelpers;
let creator: Creator;
let sku: string;
beforeAll(async () => {
  store = await startStoreApi();
  helpers = orderHelpers(store);
});
afterAll(() => store.stop());
beforeEach(async () => {
  creator = await store.creator();
  ({ sku } = await store.release(creator.id, [{ quantity: 10 }]));
});

describe('a fulfilment event', () => {
  const placeOrder = async (quantity = 1): Promise<string> => {
    const body = orderBody(sku, await store.quote(creator.token), quantity);
    return (await helpers.place(creator, body)).body.id;
  };
  const read = (id: string) => store.readOrder(creator, id);
  /** The types of the messages about the orders of the creator. */
  const events = () => helpers.events(creator, 'order.');

  it('ships the order with the first package, updates tracking with later ones, and delivers it with the last', async () => {
    const id = await placeOrder();
    expect(
      await store.publishAndWait(shipped(id, 'TEST1', atMinute(1)), shipped(id, 'TEST2', atMinute(2))),
    ).toEqual(['applied', 'applied']);
    expect(await read(id)).toMatchObject({
      status: 'shipped',
      tracking: {
        carrier: 'Royal Mail',
        tracking_number: 'TEST2',
        tracking_url: 'https://track.example/TEST2',
        updated_at: expect.any(String),
        shipped_at: expect.any(String),
        delivered_at: null,
        packages: [{ tracking_number: 'TEST1' }, { tracking_number: 'TEST2' }],
      },
    });
    await store.publishAndWait(delivered(id, atMinute(3), 'TEST1'));
    expect((await read(id)).status).toBe('shipped');
    await store.publishAndWait(delivered(id, atMinute(4)));
    const order = await read(id);
    expect(order.status).toBe('delivered');
    expect(order.tracking.delivered_at).toEqual(expect.any(String));
    expect(await events()).toEqual([
      'order.created',
      'order.processing',
      'order.shipped',
      'order.tracking_updated',
      'order.delivered',
    ]);
  });

  it('corrects the newest package, or the named one', async () => {
    const id = await placeOrder();
    await store.publishAndWait(shipped(id, 'TEST1', atMinute(1)), shipped(id, 'TEST2', atMinute(2)));
    await store.publishAndWait(corrected(id, 'TEST3', atMinute(3)));
    await store.publishAndWait(corrected(id, 'TEST4', atMinute(3), 'TEST1'));
    const { tracking } = await read(id);
    expect(tracking.packages.map((parcel: { tracking_number: string }) => parcel.tracking_number)).toEqual([
      'TEST4',
      'TEST3',
    ]);
    expect(tracking.tracking_number).toBe('TEST3');
  });

  it('is applied once when it is repeated with the same id and with another id', async () => {
    const id = await placeOrder();
    const shipment = shipped(id, 'TEST1', atMinute(1));
    await store.publishAndWait(shipment, shipment, shipped(id, 'TEST1', atMinute(1)));
    expect((await events()).filter((type) => type === 'order.shipped')).toHaveLength(1);
    expect((await read(id)).tracking.packages).toHaveLength(1);
  });

  it('corrects once when the correction is repeated', async () => {
    const id = await placeOrder();
    await store.publishAndWait(shipped(id, 'TEST1', atMinute(1)));
    const correction = () => corrected(id, 'TEST2', atMinute(2), 'TEST1');
    expect(await store.publishAndWait(correction(), correction())).toEqual(['applied', 'applied']);
    expect((await read(id)).tracking.packages).toHaveLength(1);
    expect((await events()).filter((type) => type === 'order.tracking_updated')).toHaveLength(1);
  });

  it('cancels an order before it ships, refunds it, and returns its stock once for two cancellations', async () => {
    const id = await placeOrder(3);
    expect(await helpers.stock(creator)).toEqual([7]);
    await store.publishAndWait(cancelled(id), cancelled(id));
    expect(await read(id)).toMatchObject({ status: 'cancelled', billing: { payment_status: 'refunded' } });
    expect(await helpers.stock(creator)).toEqual([10]);
    await store.resumeOrdersAndRefunds();
    expect(await helpers.providerCharges(creator)).toMatchObject([{ refunded: true }]);
  });

  it('is rejected as a dead letter, with a reason, if its order or product is unknown or the status does not allow it', async () => {
    const id = await placeOrder();
    await store.publishAndWait(shipped(id, 'TEST1', atMinute(1)));
    const rejections = await store.publishAndWait(
      cancelled(id),
      shipped('ord_00000000000000000000000000', 'TEST1', atMinute(1)),
      shipped('nonsense', 'TEST1', atMinute(1)),
      messages.fulfilmentStockSet.make({ sku: 'prod_00000000000000000000000000', quantity: 1 }, atMinute(1)),
    );
    expect(rejections).toEqual([
      'cannot cancel an order that is shipped',
      'order ord_00000000000000000000000000 does not exist',
      'order nonsense does not exist',
      'product prod_00000000000000000000000000 does not exist',
    ]);
    expect((await read(id)).status).toBe('shipped');
    expect(await store.broker.takeDeadLetters('store-api.fulfilment')).toHaveLength(4);
  });
});
