import { type Message, messages } from '@fulfilment/contracts';
import { eventually } from '@fulfilment/testing';
import fc from 'fast-check';
import { atMinute, delivered, setUpOrders, shipped, permutations } from './fulfilment.fixture.js';
import { isPartialShipment } from './package.rules.js';

describe('an order whose packages are reported with their items', () => {
  const setup = setUpOrders([{ product_type: 'vinyl_12_lp' }, { product_type: 'vinyl_7_single' }]);
  const { readOrder } = setup;
  let lp: string;
  let single: string;
  beforeAll(() => {
    [lp = '', single = ''] = setup.skus;
  });

  /** Three LPs on two lines, and a single. */
  const placeOrder = () =>
    setup.placeOrder([
      [lp, 2],
      [lp, 1],
      [single, 1],
    ]);
  const publish = async (event: Message) => (await setup.store.publishAndWait(event))[0];

  it('shows the items of each package, and publishes the items of the newest one', async () => {
    const id = await placeOrder();
    const items = [
      { sku: single, quantity: 1 },
      { sku: lp, quantity: 1 },
      { sku: lp, quantity: 1 },
    ];
    expect(await publish(shipped(id, 'A', atMinute(1), items))).toBe('applied');
    const shown = [
      { sku: lp, quantity: 2 },
      { sku: single, quantity: 1 },
    ].sort((one, other) => (one.sku < other.sku ? -1 : 1));
    expect((await readOrder(id)).tracking).toMatchObject({ items: shown, packages: [{ items: shown }] });
    const published = await eventually(() =>
      setup.store
        .published('order.shipped')
        .map(({ data }) => messages.orderShipped.schema.parse(data).order.tracking)
        .find((tracking) => tracking?.tracking_number === 'A'),
    );
    expect(published?.items).toEqual(shown);
    expect(await publish(shipped(id, 'B', atMinute(2)))).toBe('applied');
    const { tracking } = await readOrder(id);
    expect(tracking.items).toBeUndefined();
    expect(tracking.packages[1].items).toBeUndefined();
  });

  it('is delivered when all of its pieces have arrived, in any order of events', async () => {
    for (const order of permutations([0, 1, 2, 3])) {
      const id = await placeOrder();
      const events = [
        shipped(id, 'A', atMinute(1), [{ sku: lp, quantity: 3 }]),
        delivered(id, atMinute(2), 'A'),
        shipped(id, 'B', atMinute(3), [{ sku: single, quantity: 1 }]),
        delivered(id, atMinute(4), 'B'),
      ];
      const statuses: string[] = [];
      for (const index of order) {
        const message = events[index];
        if (message !== undefined) await publish(message);
        statuses.push((await readOrder(id)).status);
      }
      expect({ order, early: statuses.slice(0, 3).includes('delivered'), end: statuses[3] }).toEqual({
        order,
        early: false,
        end: 'delivered',
      });
    }
  });

  it('is delivered when its packages have arrived, if the items of one are not known', async () => {
    const id = await placeOrder();
    await publish(shipped(id, 'A', atMinute(1), [{ sku: lp, quantity: 1 }]));
    await publish(delivered(id, atMinute(2), 'A'));
    expect((await readOrder(id)).status).toBe('shipped');
    await publish(shipped(id, 'B', atMinute(3)));
    await publish(delivered(id, atMinute(4), 'B'));
    expect((await readOrder(id)).status).toBe('delivered');
  });

  it('accepts more pieces in total than were ordered, because a package may replace a lost one', async () => {
    const id = await placeOrder();
    const items = [{ sku: lp, quantity: 3 }];
    expect(await publish(shipped(id, 'A', atMinute(1), items))).toBe('applied');
    expect(await publish(shipped(id, 'B', atMinute(2), items))).toBe('applied');
  });

  it('rejects a package with a product that was not ordered, or with more pieces of it', async () => {
    const id = await placeOrder();
    const { sku: other } = await setup.store.release(setup.creator.id);
    expect(await publish(shipped(id, 'A', atMinute(1), [{ sku: other, quantity: 1 }]))).toBe(
      `the order has no product ${other}`,
    );
    expect(
      await publish(
        shipped(id, 'A', atMinute(1), [
          { sku: lp, quantity: 2 },
          { sku: lp, quantity: 2 },
        ]),
      ),
    ).toBe(`the order has only 3 pieces of ${lp}`);
    expect((await readOrder(id)).status).toBe('processing');
  });

  it('stays completely shipped after a further package, so that the order of arrival makes no difference', () => {
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
