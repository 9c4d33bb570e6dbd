import { messages } from '@fulfilment/contracts';
import { orderBody, type StoreApiUnderTest, startStoreApi, type Creator } from '../store-api.fixture.js';

/** The metadata of an event that occurred at a minute of one hour. */
export const atMinute = (minute: number) => ({ occurredAt: new Date(Date.UTC(2026, 0, 1, 9, minute)) });

const trackingOf = (tracking_number: string) => ({
  carrier: 'Royal Mail',
  tracking_number,
  tracking_url: `https://track.example/${tracking_number}`,
});

// The events below occur at a minute as in `atMinute`.

export const shipped = (
  order_id: string,
  trackingNumber: string,
  minute: number,
  items?: { sku: string; quantity: number }[],
) => messages.fulfilmentShipped.make({ order_id, ...trackingOf(trackingNumber), items }, atMinute(minute));

/** @param replaces a tracking number of the corrected package; by default, the newest one is corrected */
export const corrected = (order_id: string, trackingNumber: string, minute: number, replaces?: string) =>
  messages.fulfilmentTrackingCorrected.make(
    { order_id, ...trackingOf(trackingNumber), replaces_tracking_number: replaces },
    atMinute(minute),
  );

/** Without a tracking number, all packages are delivered. */
export const delivered = (order_id: string, minute: number, tracking_number?: string) =>
  messages.fulfilmentDelivered.make({ order_id, tracking_number }, atMinute(minute));

export const cancelled = (order_id: string, minute: number) =>
  messages.fulfilmentCancelled.make({ order_id, reason: 'pressing fault' }, atMinute(minute));

/** Starts the service for the tests of a file, with a creator and a release. Places and reads orders. */
export function setUpOrders(products = [{}]) {
  let store: StoreApiUnderTest;
  let creator: Creator;
  let skus: string[];
  let rate: string;
  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
    ({ skus } = await store.release(creator.id, products));
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  return {
    get store() {
      return store;
    },
    get creator() {
      return creator;
    },
    get skus() {
      return skus;
    },
    /** @param quantities pieces of each line with its sku; by default, one piece of the first product */
    placeOrder: async (quantities: readonly (readonly [string, number])[] = [[skus[0] ?? '', 1]]) => {
      const items = quantities.flatMap(([sku, quantity]) => orderBody(sku, rate, quantity).items);
      const order = { ...orderBody('', rate), items };
      const { body } = await store.post('/store/v1/orders', creator.token, order);
      return String(body.id);
    },
    readOrder: (id: string) => store.readOrder(creator, id),
  };
}
