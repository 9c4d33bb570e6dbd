import { type Message, messages, storeScopes } from '@fulfilment/contracts';
import { messageOutcomes } from '@fulfilment/messaging';
import { eventually } from '@fulfilment/testing';
import request from 'supertest';
import { z } from 'zod';
import {
  key,
  orderBody,
  type StoreApiUnderTest,
  startStoreApi,
  type TestCreator,
} from '../store-api.fixture.js';
import { type OrderDesk, orderDesk } from './order-desk.fixture.js';

const at = { occurredAt: new Date() };
const reported = z.object({ reason: z.string().nullish(), outcome: z.string() });

describe('POST /v1/orders/{id}/cancel', () => {
  let store: StoreApiUnderTest;
  let desk: OrderDesk;

  beforeAll(async () => {
    store = await startStoreApi({
      PAYMENT_TIMEOUT_MS: '400',
      RESUME_AFTER_MS: '100',
      RATE_LIMIT_DEFAULT: '100000/60',
    });
    desk = orderDesk(store);
  });
  afterAll(() => store.stop());

  interface Placed {
    readonly creator: TestCreator;
    readonly id: string;
  }
  /** Three of ten pieces of a limited edition. */
  const placed = async (
    paymentMethod?: string,
    idempotencyKey = key(),
  ): Promise<Placed & { body: object }> => {
    const creator = await store.creator(paymentMethod);
    const [sku = ''] = (await store.release(creator.id, [{ quantity: 10 }])).skus;
    const body = orderBody(sku, await store.quote(creator.token), 3);
    const { body: order } = await desk.place(creator, body, idempotencyKey);
    return { creator, id: order.id, body };
  };
  const cancel = async ({ creator, id }: Placed, body: object = {}, idempotencyKey?: string) => {
    const sent = request(store.server)
      .post(`/store/v1/orders/${id}/cancel`)
      .auth(creator.token, { type: 'bearer' });
    return (idempotencyKey === undefined ? sent : sent.set('idempotency-key', idempotencyKey)).send(body);
  };
  const read = async ({ creator, id }: Placed) =>
    (await store.get(`/store/v1/orders/${id}`, creator.token)).body;
  const report = async (...reports: Message[]) => {
    await store.broker.publish(...reports);
    const outcomeOf = messageOutcomes(store.database);
    const outcomes = await Promise.all(
      reports.map(({ id }) => eventually(() => outcomeOf(`/messages/${id}`))),
    );
    return outcomes.map((outcome) => {
      const { reason, outcome: result } = reported.parse(outcome);
      return reason ?? result;
    });
  };
  const shipped = ({ id: order_id }: Placed) =>
    messages.fulfilmentShipped.make(
      { order_id, carrier: 'DHL', tracking_number: 'D1', tracking_url: 'https://track.example/D1' },
      at,
    );
  const cancelledByWarehouse = ({ id: order_id }: Placed) =>
    messages.fulfilmentCancelled.make({ order_id, reason: 'pressing fault' }, at);
  /** What must hold for every cancelled order, whatever happened at the same time. */
  const expectCancelledOnce = async (order: Placed, events = ['order.created', 'order.processing']) => {
    await desk.completeAll(order.creator);
    await store.resumeOrders();
    expect(await read(order)).toMatchObject({ id: order.id, status: 'cancelled', tracking: null });
    expect(await desk.ledger(order.creator)).toMatchObject([{ outcome: 'succeeded', refunded: true }]);
    expect(await desk.stock(order.creator)).toEqual([10]);
    expect(await desk.events(order.creator, 'order.')).toEqual([...events, 'order.cancelled']);
  };
  const cancelledMessage = async ({ creator }: Placed) => {
    await desk.events(creator, 'order.');
    return store
      .published('order.cancelled')
      .map(({ data }) => messages.orderCancelled.schema.parse(data))
      .find(({ order }) => order.creator_id === creator.id);
  };

  it('cancels a paid order: refunds it, returns its stock, and notifies the warehouse', async () => {
    const order = await placed();
    const response = await store.post(`/store/v1/orders/${order.id}/cancel`, order.creator.token, {
      reason: 'Ordered twice',
    });
    expect([response.status, response.get('idempotent-replayed')]).toEqual([200, undefined]);
    expect(response.body).toMatchObject({ status: 'cancelled', billing: { payment_status: 'refunded' } });
    expect(response.body).toEqual(await read(order));
    await expectCancelledOnce(order);
    expect(await cancelledMessage(order)).toMatchObject({
      reason: 'Ordered twice',
      cancelled_by: 'merchant',
      order: { status: 'cancelled', payment: { status: 'refunded', refunded_at: expect.any(String) } },
    });
    expect(await desk.events(order.creator, 'product.')).toEqual([
      'product.inventory_changed',
      'product.inventory_changed',
    ]);
  });

  it('gives a reason of its own when the request has none', async () => {
    const order = await placed();
    expect((await cancel(order)).status).toBe(200);
    expect((await cancelledMessage(order))?.reason).toBe('Cancelled by the merchant.');
  });

  it('cancels an order whose payment failed, without a refund', async () => {
    const order = await placed('pm_declined');
    expect((await cancel(order)).body).toMatchObject({
      status: 'cancelled',
      billing: { payment_status: 'failed' },
    });
    expect(await desk.ledger(order.creator)).toMatchObject([{ outcome: 'declined', refunded: false }]);
    expect(await desk.stock(order.creator)).toEqual([10]);
    expect(await desk.events(order.creator, 'order.')).toEqual([
      'order.created',
      'order.payment_failed',
      'order.cancelled',
    ]);
  });

  it('cancels an order whose payment is under way, and refunds the payment when it succeeds', async () => {
    const placingKey = key();
    const order = await placed('pm_timeout', placingKey);
    expect((await read(order)).status).toBe('pending');
    expect((await cancel(order)).body).toMatchObject({
      status: 'cancelled',
      billing: { payment_status: 'failed' },
    });
    expect(await desk.stock(order.creator)).toEqual([10]);
    expect(await desk.open(order.creator)).toBe(1);
    await desk.complete(order.creator);
    await expectCancelledOnce(order, ['order.created']);
    const repeated = await desk.place(order.creator, order.body, placingKey);
    expect([repeated.status, repeated.body]).toEqual([201, { id: order.id, status: 'cancelled' }]);
  });

  it.each(['shipped', 'delivered'])(
    'rejects the cancellation of a %s order and changes nothing',
    async (status) => {
      const order = await placed();
      await report(shipped(order));
      if (status === 'delivered') await report(messages.fulfilmentDelivered.make({ order_id: order.id }, at));
      const before = await read(order);
      const idempotencyKey = key();
      const response = await store.post(`/store/v1/orders/${order.id}/cancel`, order.creator.token, {});
      expect([response.status, response.body.code, response.body.details]).toEqual([
        409,
        'CONFLICT',
        [{ field: 'status', reason: 'already_shipped' }],
      ]);
      // An error stores no response under the key.
      for (const body of [{}, { reason: 'another body' }])
        expect((await cancel(order, body, idempotencyKey)).body.details[0].reason).toBe('already_shipped');
      expect(await read(order)).toEqual(before);
      expect(await desk.ledger(order.creator)).toMatchObject([{ refunded: false }]);
      expect(await desk.stock(order.creator)).toEqual([7]);
    },
  );

  it('returns a cancelled order unchanged when it is cancelled once more', async () => {
    const order = await placed();
    const first = await cancel(order, { reason: 'first' });
    const second = await cancel(order, { reason: 'second' });
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(second.get('idempotent-replayed')).toBeUndefined();
    await expectCancelledOnce(order);
    expect((await cancelledMessage(order))?.reason).toBe('first');
  });

  it('accepts a key by the rules of all keys', async () => {
    const placingKey = key();
    const order = await placed('pm_ok', placingKey);
    const idempotencyKey = key();
    const first = await cancel(order, {}, idempotencyKey);
    const repeated = await cancel(order, {}, `"${idempotencyKey}"`);
    expect([first.status, repeated.status]).toEqual([200, 200]);
    expect([first.get('idempotent-replayed'), repeated.get('idempotent-replayed')]).toEqual([
      undefined,
      'true',
    ]);
    expect(repeated.body).toEqual(first.body);
    const other = { ...order, id: (await desk.place(order.creator, order.body)).body.id };
    for (const mismatch of [
      cancel(order, { reason: 'another' }, idempotencyKey),
      cancel(other, {}, idempotencyKey),
      cancel(order, {}, placingKey),
      desk.place(order.creator, order.body, idempotencyKey),
    ]) {
      const { status, body } = await mismatch;
      expect([status, body.details[0].reason]).toEqual([409, 'body_mismatch']);
    }
    expect((await read(other)).status).toBe('processing');
  });

  it('is 404 for an order of another creator, for an unknown one, and without a creator', async () => {
    const order = await placed();
    const other = await store.creator();
    const noCreator = await store.tokens.token({ scope: 'orders:cancel', client_id: 'c' });
    for (const [token, id] of [
      [other.token, order.id],
      [order.creator.token, 'ord_00000000000000000000000000'],
      [order.creator.token, '%00'],
      [noCreator, order.id],
    ]) {
      const response = await store.post(`/store/v1/orders/${id}/cancel`, token ?? '', {});
      expect([response.status, response.body.code]).toEqual([404, 'NOT_FOUND']);
    }
    expect((await read(order)).status).toBe('processing');
  });

  it('requires the scope orders:cancel, which no other scope implies', async () => {
    const order = await placed();
    const scope = Object.keys(storeScopes)
      .filter((name) => name !== 'orders:cancel')
      .join(' ');
    const token = await store.tokens.token({ creator_id: order.creator.id, client_id: 'c', scope });
    const response = await store.post(`/store/v1/orders/${order.id}/cancel`, token, {});
    expect([response.status, response.body.code]).toEqual([403, 'FORBIDDEN']);
    expect((await read(order)).status).toBe('processing');
  });

  it.each([{ reason: '' }, { reason: 'x'.repeat(501) }, { reason: 7 }, { reason: 'a\u0000b' }])(
    'rejects %j and names the field',
    async (body) => {
      const order = await placed();
      const response = await cancel(order, body);
      expect([response.status, response.body.details[0].field]).toEqual([400, 'reason']);
    },
  );

  it('cancels once when many requests cancel at the same time', async () => {
    const order = await placed();
    const idempotencyKey = key();
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, n) => cancel(order, {}, n % 2 === 0 ? idempotencyKey : undefined)),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    const replays = responses.filter((response) => response.get('idempotent-replayed') === 'true');
    expect(replays).toHaveLength(5);
    await expectCancelledOnce(order);
  });

  it('either cancels or ships an order that is cancelled while its shipment is reported', async () => {
    const ends = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const order = await placed();
        const shipment = shipped(order);
        // Half of the reports arrive before the request, half of them with it.
        if (n % 2 === 0) await store.broker.publish(shipment);
        const [{ status, body }, [outcome]] = await Promise.all([cancel(order), report(shipment)]);
        if (status === 200) {
          expect(outcome).toBe('cannot ship an order that is cancelled');
          await expectCancelledOnce(order);
        } else {
          expect([status, body.details[0].reason, outcome]).toEqual([409, 'already_shipped', 'applied']);
          expect((await read(order)).status).toBe('shipped');
          expect(await desk.ledger(order.creator)).toMatchObject([{ refunded: false }]);
          expect(await desk.stock(order.creator)).toEqual([7]);
        }
        return status;
      }),
    );
    expect(ends).toHaveLength(10);
  });

  it('cancels once when the warehouse cancels the order at the same time, and later once more', async () => {
    const orders = await Promise.all(Array.from({ length: 5 }, () => placed()));
    await Promise.all(
      orders.map(async (order) => {
        const byWarehouse = cancelledByWarehouse(order);
        const [{ status }, outcomes] = await Promise.all([cancel(order), report(byWarehouse)]);
        expect([status, outcomes]).toEqual([200, ['applied']]);
        expect(await report(byWarehouse, cancelledByWarehouse(order))).toEqual(['applied', 'applied']);
      }),
    );
    for (const order of orders) await expectCancelledOnce(order);
  });

  it.each([
    ['warehouse', {}],
    ['operator', { operator: 'ana' }],
  ])('publishes that the %s cancelled an order', async (who, by) => {
    const order = await placed();
    expect(await report({ ...cancelledByWarehouse(order), ...by })).toEqual(['applied']);
    expect((await cancelledMessage(order))?.cancelled_by).toBe(who);
  });

  it('refunds an order that is cancelled while its payment settles', async () => {
    const orders = await Promise.all(Array.from({ length: 8 }, () => placed('pm_timeout')));
    const settling = Promise.all(orders.map(({ creator }) => desk.complete(creator)));
    const responses = await Promise.all(orders.map((order) => cancel(order)));
    await settling;
    expect(responses.map(({ status }) => status)).toEqual(orders.map(() => 200));
    for (const order of orders) {
      await desk.completeAll(order.creator);
      expect((await read(order)).status).toBe('cancelled');
      expect(await desk.ledger(order.creator)).toMatchObject([{ outcome: 'succeeded', refunded: true }]);
      expect(await desk.stock(order.creator)).toEqual([10]);
      const events = await desk.events(order.creator, 'order.');
      expect(events.filter((type) => type !== 'order.processing')).toEqual([
        'order.created',
        'order.cancelled',
      ]);
    }
  });

  it('rejects a delivery that waited for the shipment of the order', async () => {
    const order = await placed();
    const early = messages.fulfilmentDelivered.make({ order_id: order.id }, at);
    expect(await report(early)).toEqual(['cannot deliver an order that is still processing']);
    await cancel(order);
    await store.broker.publish(early);
    expect(await report(shipped(order))).toEqual(['cannot ship an order that is cancelled']);
    await expectCancelledOnce(order);
  });
});
