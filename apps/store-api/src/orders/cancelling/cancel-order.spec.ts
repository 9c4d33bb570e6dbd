import { storeScopes } from '@fulfilment/contracts';
import { eventually } from '@fulfilment/testing';
import { atMinute, cancelled, delivered } from '../../fulfilment/fulfilment.fixture.js';
import { newKey } from '../../test/store-api.fixture.js';
import { setUpCancellations } from './cancellations.fixture.js';

describe('POST /v1/orders/{id}/cancel', () => {
  const setup = setUpCancellations();
  const { place, cancel, read, shipmentOf, expectCancelledOnce, cancelledMessage } = setup;

  it('cancels a paid order: refunds it, returns its stock, and notifies the warehouse', async () => {
    const order = await place();
    const response = await cancel(order, { reason: 'Ordered twice' });
    expect([response.status, response.get('idempotent-replayed')]).toEqual([200, undefined]);
    expect(response.body).toMatchObject({ status: 'cancelled', billing: { payment_status: 'refunded' } });
    expect(response.body).toEqual(await read(order));
    await expectCancelledOnce(order);
    expect(await cancelledMessage(order)).toMatchObject({
      reason: 'Ordered twice',
      cancelled_by: 'merchant',
      order: { status: 'cancelled', payment: { status: 'refunded', refunded_at: expect.any(String) } },
    });
    expect(await setup.helpers.events(order.creator, 'product.')).toEqual([
      'product.inventory_changed',
      'product.inventory_changed',
    ]);
  });

  it('publishes a default reason when the request has none', async () => {
    const order = await place();
    expect((await cancel(order)).status).toBe(200);
    expect((await cancelledMessage(order))?.reason).toBe('Cancelled by the merchant.');
  });

  it('cancels an order whose payment failed, without a refund', async () => {
    const order = await place('pm_declined');
    expect((await cancel(order)).body).toMatchObject({
      status: 'cancelled',
      billing: { payment_status: 'failed' },
    });
    expect(await setup.helpers.providerCharges(order.creator)).toMatchObject([
      { outcome: 'declined', refunded: false },
    ]);
    expect(await setup.helpers.stock(order.creator)).toEqual([10]);
    expect(await setup.helpers.events(order.creator, 'order.')).toEqual([
      'order.created',
      'order.payment_failed',
      'order.cancelled',
    ]);
  });

  it('cancels an order whose charge is pending, and refunds the charge when it succeeds', async () => {
    const placingKey = newKey();
    const order = await place('pm_timeout', placingKey);
    expect((await read(order)).status).toBe('pending');
    expect((await cancel(order)).body).toMatchObject({
      status: 'cancelled',
      billing: { payment_status: 'failed' },
    });
    expect(await setup.helpers.stock(order.creator)).toEqual([10]);
    expect(await setup.helpers.openChargeCount(order.creator)).toBe(1);
    await setup.helpers.runCompleter(order.creator);
    await expectCancelledOnce(order, ['order.created']);
    const repeated = await setup.helpers.place(order.creator, order.body, placingKey);
    expect([repeated.status, repeated.body]).toEqual([201, { id: order.id, status: 'cancelled' }]);
  });

  it.each(['shipped', 'delivered'])(
    'rejects the cancellation of a %s order and changes nothing',
    async (status) => {
      const order = await place();
      await setup.store.publishAndWait(shipmentOf(order));
      if (status === 'delivered') await setup.store.publishAndWait(delivered(order.id, atMinute(2)));
      const before = await read(order);
      const idempotencyKey = newKey();
      const response = await cancel(order);
      expect([response.status, response.body.code, response.body.details]).toEqual([
        409,
        'CONFLICT',
        [{ field: 'status', reason: 'already_shipped' }],
      ]);
      // An error stores no response under the key.
      for (const body of [{}, { reason: 'another body' }])
        expect((await cancel(order, body, idempotencyKey)).body.details[0].reason).toBe('already_shipped');
      expect(await read(order)).toEqual(before);
      expect(await setup.helpers.providerCharges(order.creator)).toMatchObject([{ refunded: false }]);
      expect(await setup.helpers.stock(order.creator)).toEqual([7]);
    },
  );

  it('returns a cancelled order unchanged when it is cancelled once more', async () => {
    const order = await place();
    const first = await cancel(order, { reason: 'first' });
    const second = await cancel(order, { reason: 'second' });
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(second.get('idempotent-replayed')).toBeUndefined();
    await expectCancelledOnce(order);
    expect((await cancelledMessage(order))?.reason).toBe('first');
  });

  it('replays a repeated key, and rejects it with another body, order or operation', async () => {
    const placingKey = newKey();
    const order = await place('pm_ok', placingKey);
    const idempotencyKey = newKey();
    const first = await cancel(order, {}, idempotencyKey);
    const repeated = await cancel(order, {}, `"${idempotencyKey}"`);
    expect([first.status, repeated.status]).toEqual([200, 200]);
    expect([first.get('idempotent-replayed'), repeated.get('idempotent-replayed')]).toEqual([
      undefined,
      'true',
    ]);
    expect(repeated.body).toEqual(first.body);
    const other = { ...order, id: (await setup.helpers.place(order.creator, order.body)).body.id };
    for (const mismatch of [
      cancel(order, { reason: 'another' }, idempotencyKey),
      cancel(other, {}, idempotencyKey),
      cancel(order, {}, placingKey),
      setup.helpers.place(order.creator, order.body, idempotencyKey),
    ]) {
      const { status, body } = await mismatch;
      expect([status, body.details[0].reason]).toEqual([409, 'body_mismatch']);
    }
    expect((await read(other)).status).toBe('processing');
  });

  it('returns 404 for an order of another creator, an unknown or malformed id, and a token without a creator', async () => {
    const order = await place();
    const otherCreator = await setup.store.creator();
    const noCreator = await setup.store.tokens.token({ scope: 'orders:cancel', client_id: 'c' });
    for (const missing of [
      { ...order, creator: otherCreator },
      { ...order, id: 'ord_00000000000000000000000000' },
      { ...order, id: '%00' },
      { ...order, creator: { ...order.creator, token: noCreator } },
    ]) {
      const response = await cancel(missing);
      expect([response.status, response.body.code]).toEqual([404, 'NOT_FOUND']);
    }
    expect((await read(order)).status).toBe('processing');
  });

  it('requires the scope orders:cancel, which the other scopes together do not imply', async () => {
    const order = await place();
    const scope = Object.keys(storeScopes)
      .filter((name) => name !== 'orders:cancel')
      .join(' ');
    const token = await setup.store.tokens.token({ creator_id: order.creator.id, client_id: 'c', scope });
    const response = await cancel({ ...order, creator: { ...order.creator, token } });
    expect([response.status, response.body.code]).toEqual([403, 'FORBIDDEN']);
    expect((await read(order)).status).toBe('processing');
  });

  it.each([{ reason: '' }, { reason: 'x'.repeat(501) }, { reason: 7 }, { reason: 'a\u0000b' }])(
    'rejects %j and names the field',
    async (body) => {
      const order = await place();
      const response = await cancel(order, body);
      expect([response.status, response.body.details[0].field]).toEqual([400, 'reason']);
    },
  );

  it.each([
    ['warehouse', {}],
    ['operator', { operator: 'ana' }],
  ])('publishes that the %s cancelled an order', async (canceller, operator) => {
    const order = await place();
    expect(await setup.store.publishAndWait({ ...cancelled(order.id), ...operator })).toEqual(['applied']);
    expect((await cancelledMessage(order))?.cancelled_by).toBe(canceller);
  });

  it('rejects a delivery that is deferred until the shipment, after the order was cancelled', async () => {
    const order = await place();
    const early = delivered(order.id, atMinute(2));
    expect(await setup.store.publishAndWait(early)).toEqual([
      'cannot deliver an order that is still processing',
    ]);
    await cancel(order);
    await setup.store.broker.publish(early); // as the retry of a deferred event does
    await eventually(async () => (await setup.store.outcomeOf(early)).outcome === 'refused');
    expect(await setup.store.publishAndWait(shipmentOf(order))).toEqual([
      'cannot ship an order that is cancelled',
    ]);
    await expectCancelledOnce(order);
  });
});
