import { cancelled } from '../../fulfilment/fulfilment.fixture.js';
import { newKey } from '../../test/store-api.fixture.js';
import { setUpCancellations } from './cancellations.fixture.js';

describe('POST /v1/orders/{id}/cancel, concurrently with other changes,', () => {
  const setup = setUpCancellations();
  const { place, cancel, read, shipmentOf, expectCancelledOnce } = setup;

  it('cancels once when many requests cancel at the same time', async () => {
    const order = await place();
    const idempotencyKey = newKey();
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, n) => cancel(order, {}, n % 2 === 0 ? idempotencyKey : undefined)),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    // Six requests share the key, and the first of them is no replay.
    const replays = responses.filter((response) => response.get('idempotent-replayed') === 'true');
    expect(replays).toHaveLength(5);
    await expectCancelledOnce(order);
  });

  it('either cancels or ships an order that is cancelled while its shipment is reported', async () => {
    await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const order = await place();
        const shipment = shipmentOf(order);
        // Every second shipment is also sent before the request. Repeated messages have no effect.
        if (n % 2 === 0) await setup.store.broker.publish(shipment);
        const [{ status, body }, [outcome]] = await Promise.all([
          cancel(order),
          setup.store.publishAndWait(shipment),
        ]);
        if (status === 200) {
          expect(outcome).toBe('cannot ship an order that is cancelled');
          await expectCancelledOnce(order);
        } else {
          expect([status, body.details[0].reason, outcome]).toEqual([409, 'already_shipped', 'applied']);
          expect((await read(order)).status).toBe('shipped');
          expect(await setup.helpers.providerCharges(order.creator)).toMatchObject([{ refunded: false }]);
          expect(await setup.helpers.stock(order.creator)).toEqual([7]);
        }
      }),
    );
  });

  it('cancels once when the warehouse cancels the order too, at the same time and later', async () => {
    const orders = await Promise.all(Array.from({ length: 5 }, () => place()));
    await Promise.all(
      orders.map(async (order) => {
        const byWarehouse = cancelled(order.id);
        const [{ status }, outcomes] = await Promise.all([
          cancel(order),
          setup.store.publishAndWait(byWarehouse),
        ]);
        expect([status, outcomes]).toEqual([200, ['applied']]);
        expect(await setup.store.publishAndWait(byWarehouse, cancelled(order.id))).toEqual([
          'applied',
          'applied',
        ]);
      }),
    );
    for (const order of orders) await expectCancelledOnce(order);
  });

  it('refunds an order that is cancelled while its payment settles', async () => {
    const orders = await Promise.all(Array.from({ length: 8 }, () => place('pm_timeout')));
    const settling = Promise.all(orders.map(({ creator }) => setup.helpers.runCompleter(creator)));
    const responses = await Promise.all(orders.map((order) => cancel(order)));
    await settling;
    expect(responses.map(({ status }) => status)).toEqual(orders.map(() => 200));
    for (const order of orders) {
      await setup.helpers.completeAll(order.creator);
      expect((await read(order)).status).toBe('cancelled');
      expect(await setup.helpers.providerCharges(order.creator)).toMatchObject([
        { outcome: 'succeeded', refunded: true },
      ]);
      expect(await setup.helpers.stock(order.creator)).toEqual([10]);
      const events = await setup.helpers.events(order.creator, 'order.');
      // `order.processing` is published only if the payment settled before the cancellation.
      expect(events.filter((type) => type !== 'order.processing')).toEqual([
        'order.created',
        'order.cancelled',
      ]);
    }
  });
});
