import { type Message, messages } from '@fulfilment/contracts';
import { eventually } from '@fulfilment/testing';
import fc from 'fast-check';
import { orderBody, type StoreApiUnderTest, startStoreApi, type TestCreator } from '../store-api.fixture.js';
import { isPartialShipment } from './package.rules.js';
import { permutations } from './permutations.fixture.js';

describe('an order whose packages are reported with their items', () => {
  let store: StoreApiUnderTest;
  let creator: TestCreator;
  let lp: string;
  let single: string;
  let rate: string;

  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
    [lp = '', single = ''] = (await store.release(creator.id, [{}, {}])).skus;
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  /** Three LPs on two lines, and a single. */
  const placed = async (): Promise<string> => {
    const body = orderBody(lp, rate, 2);
    const more = [...orderBody(lp, rate, 1).items, ...orderBody(single, rate, 1).items];
    const order = { ...body, items: [...body.items, ...more] };
    return (await store.post('/store/v1/orders', creator.token, order)).body.id;
  };
  const read = async (id: string) => (await store.get(`/store/v1/orders/${id}`, creator.token)).body;
  const report = async (message: Message) => (await store.publishAndWait(message))[0];
  const at = (minute: number) => ({ occurredAt: new Date(Date.UTC(2026, 0, 1, 9, minute)) });
  const ship = (
    order_id: string,
    tracking_number: string,
    minute: number,
    items?: { sku: string; quantity: number }[],
  ) =>
    messages.fulfilmentShipped.make(
      {
        order_id,
        carrier: 'DHL',
        tracking_number,
        tracking_url: `https://track.example/${tracking_number}`,
        items,
      },
      at(minute),
    );
  const deliver = (order_id: string, tracking_number: string, minute: number) =>
    messages.fulfilmentDelivered.make({ order_id, tracking_number }, at(minute));

  it('shows the items of each package, and publishes those of the newest one', async () => {
    const id = await placed();
    const items = [
      { sku: single, quantity: 1 },
      { sku: lp, quantity: 1 },
      { sku: lp, quantity: 1 },
    ];
    expect(await report(ship(id, 'A', 1, items))).toBe('applied');
    const shown = [
      { sku: lp, quantity: 2 },
      { sku: single, quantity: 1 },
    ].sort((one, other) => (one.sku < other.sku ? -1 : 1));
    expect((await read(id)).tracking).toMatchObject({ items: shown, packages: [{ items: shown }] });
    const published = await eventually(() =>
      store
        .published('order.shipped')
        .map(({ data }) => messages.orderShipped.schema.parse(data).order.tracking)
        .find((tracking) => tracking?.tracking_number === 'A'),
    );
    expect(published?.items).toEqual(shown);
    expect(await report(ship(id, 'B', 2))).toBe('applied');
    const { tracking } = await read(id);
    expect(tracking.items).toBeUndefined();
    expect(tracking.packages[1].items).toBeUndefined();
  });

  it('is delivered when all of its pieces have arrived, in any order of events', async () => {
    for (const order of permutations([0, 1, 2, 3])) {
      const id = await placed();
      const story = [
        ship(id, 'A', 1, [{ sku: lp, quantity: 3 }]),
        deliver(id, 'A', 2),
        ship(id, 'B', 3, [{ sku: single, quantity: 1 }]),
        deliver(id, 'B', 4),
      ];
      const statuses: string[] = [];
      for (const index of order) {
        const message = story[index];
        if (message !== undefined) await report(message);
        statuses.push((await read(id)).status);
      }
      expect({ order, early: statuses.slice(0, 3).includes('delivered'), end: statuses[3] }).toEqual({
        order,
        early: false,
        end: 'delivered',
      });
    }
  });

  it('is delivered when its packages have arrived, if the items of one are not known', async () => {
    const id = await placed();
    await report(ship(id, 'A', 1, [{ sku: lp, quantity: 1 }]));
    await report(deliver(id, 'A', 2));
    expect((await read(id)).status).toBe('shipped');
    await report(ship(id, 'B', 3));
    await report(deliver(id, 'B', 4));
    expect((await read(id)).status).toBe('delivered');
  });

  it('accepts more pieces in all than were ordered, because a package may replace a lost one', async () => {
    const id = await placed();
    for (const [number, minute] of [
      ['A', 1],
      ['B', 2],
    ] as const)
      expect(await report(ship(id, number, minute, [{ sku: lp, quantity: 3 }]))).toBe('applied');
  });

  it('rejects a package with a product that was not ordered, or with more pieces of it', async () => {
    const id = await placed();
    const [other = ''] = (await store.release(creator.id)).skus;
    expect(await report(ship(id, 'A', 1, [{ sku: other, quantity: 1 }]))).toBe(
      `the order has no product ${other}`,
    );
    expect(
      await report(
        ship(id, 'A', 1, [
          { sku: lp, quantity: 2 },
          { sku: lp, quantity: 2 },
        ]),
      ),
    ).toBe(`the order has only 3 pieces of ${lp}`);
    expect((await read(id)).status).toBe('processing');
  });

  it('stays complete when further packages are reported, so that no order of arrival changes the result', () => {
    const items = fc.array(
      fc.record({ sku: fc.constantFrom('a', 'b'), quantity: fc.integer({ min: 1, max: 3 }) }),
    );
    const parcel = fc.option(items, { nil: undefined }).map((packed) => ({
      carrier: 'DHL',
      tracking_number: '1',
      tracking_url: 'https://track.example/1',
      shipped_at: '2026-01-01T00:00:00Z',
      delivered_at: null,
      ...(packed !== undefined && { items: packed }),
    }));
    fc.assert(
      fc.property(items, fc.array(parcel, { minLength: 1 }), parcel, (ordered, packages, added) => {
        fc.pre(!isPartialShipment(packages, ordered));
        expect(isPartialShipment([added, ...packages], ordered)).toBe(false);
      }),
    );
  });
});
