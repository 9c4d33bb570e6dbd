import { messages } from '@fulfilment/contracts';
import { orderBody, type StoreApiUnderTest, startStoreApi, type Creator } from '../test/store-api.fixture.js';

/** Returns the options of a message about an event that occurred at a minute of one fixed hour. */
export const atMinute = (minute: number) => ({ occurredAt: new Date(Date.UTC(2026, 0, 1, 9, minute)) });

type Occurred = ReturnType<typeof atMinute>;

const trackingOf = (tracking_number: string) => ({
  carrier: 'Royal Mail',
  tracking_number,
  tracking_url: `https://track.example/${tracking_number}`,
});

export const shipped = (
  order_id: string,
  trackingNumber: string,
  occurred: Occurred,
  items?: { sku: string; quantity: number }[],
) => messages.fulfilmentShipped.make({ order_id, ...trackingOf(trackingNumber), items }, occurred);

/** @param replaces a tracking number of the corrected package; by default, the newest one is corrected */
export const corrected = (order_id: string, trackingNumber: string, occurred: Occurred, replaces?: string) =>
  messages.fulfilmentTrackingCorrected.make(
    { order_id, ...trackingOf(trackingNumber), replaces_tracking_number: replaces },
    occurred,
  );

/** Without a tracking number, all packages are delivered. */
export const delivered = (order_id: string, occurred: Occurred, tracking_number?: string) =>
  messages.fulfilmentDelivered.make({ order_id, tracking_number }, occurred);

export const cancelled = (order_id: string) =>
  messages.fulfilmentCancelled.make({ order_id, reason: 'pressing fault' }, { occurredAt: new Date() });

/** Returns every permutation of different numbers. */
export function permutations(items: readonly number[]): number[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item) =>
    permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  );
}

/**
 * Starts the service for the tests of a file, with a creator and a release. Returns functions that place and
 * read orders.
 */
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
    // Getters, because `beforeAll` runs after this function has returned.
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
