import { statement } from '@fulfilment/database';
import { createHmac, randomBytes } from 'node:crypto';
import request from 'supertest';
import { type StripeOrders, stripeOrders } from '../../billing/stripe-orders.fixture.js';

const makeRefundsDue = statement(
  'test.make-refunds-due',
  "UPDATE charges SET refund_at = now() WHERE status = 'refund_due'",
);
/** Moves the next attempt of a pending charge or refund beyond the end of the test. */
const postpone = statement(
  'test.postpone',
  `WITH postponed AS (
     UPDATE orders SET resume_at = now() + interval '1 hour' WHERE creator_id = $1 AND resume_at IS NOT NULL
   )
   UPDATE charges SET refund_at = now() + interval '1 hour'
   WHERE refund_at IS NOT NULL AND order_id IN (SELECT id FROM orders WHERE creator_id = $1)`,
);
const path = '/store/webhooks/stripe';
const secret = 'whsec_fake_current';
const previousSecret = 'whsec_fake_previous';
const nowSeconds = () => Math.floor(Date.now() / 1000);

/** https://docs.stripe.com/webhooks#verify-manually */
function signatureOf(body: string, key = secret, t = nowSeconds()): string {
  return `t=${t},v1=${createHmac('sha256', key).update(`${t}.${body}`).digest('hex')}`;
}
const randomNetwork = () => ['10', ...randomBytes(3)].join('.');
const eventAbout = (object: object) => JSON.stringify({ object: 'event', type: 'x.y', data: { object } });

describe("Stripe's webhooks", () => {
  let orders: StripeOrders;
  beforeAll(async () => {
    orders = await stripeOrders({ STRIPE_WEBHOOK_SECRET: `${secret},${previousSecret}` });
  });
  afterAll(() => orders.stop());

  const send = (body: string, signature?: string) => {
    const post = request(orders.store.server).post(path).set('content-type', 'application/json');
    if (signature !== undefined) void post.set('stripe-signature', signature);
    return post.send(body);
  };
  const sendSigned = (object: object) => {
    const body = eventAbout(object);
    return send(body, signatureOf(body)).expect(200, { received: true });
  };
  type Placed = Awaited<ReturnType<StripeOrders['place']>>;
  const charge = async ({ creator }: Placed) => {
    const [row] = await orders.helpers.charges(creator);
    if (row === undefined) throw new Error('The order has no charge.');
    return row;
  };
  const status = async (placed: Placed) => (await charge(placed)).status;
  const refundsOf = (placed: Placed) =>
    orders.stripe.refunds.filter(({ payment_intent }) => payment_intent === placed.intents()[0]?.id);
  /** Places and cancels an order, and requests its refund, which Stripe creates with the status. */
  const placeRefunded = async (refundStatus: string) => {
    const placed = await orders.place('pm_card_visa');
    await orders.cancel(placed.order);
    orders.stripe.refundWith(refundStatus);
    await orders.store.resumeOrdersAndRefunds();
    return placed;
  };
  /** The object of an event that reports a status of the first refund. */
  const refundWithStatus = (placed: Placed, refundStatus: string) => ({
    object: 'refund',
    id: refundsOf(placed)[0]?.id,
    status: refundStatus,
  });
  const setRefundStatus = (placed: Placed, refundStatus: string) => {
    for (const refund of refundsOf(placed)) refund.status = refundStatus;
  };

  it('make the completer read a pending charge from Stripe at once, and are not used as the outcome', async () => {
    orders.stripe.confirmWith('processing');
    const placed = await orders.place('pm_card_visa');
    const { id } = await charge(placed);
    const succeeded = { object: 'payment_intent', status: 'succeeded', metadata: { charge_id: id } };
    await sendSigned(succeeded);
    await orders.store.resumeOrdersAndRefunds();
    expect(await status(placed)).toBe('pending');
    for (const intent of placed.intents()) intent.status = 'succeeded';
    await orders.store.database.run(postpone, [placed.creator.id]);
    await orders.store.resumeOrdersAndRefunds(); // the charge is not due
    expect(await status(placed)).toBe('pending');
    await sendSigned(succeeded);
    await orders.store.resumeOrdersAndRefunds();
    expect(await status(placed)).toBe('succeeded');
    await sendSigned(succeeded);
    await orders.store.resumeOrdersAndRefunds();
    expect(placed.intents()).toHaveLength(1);
  });

  it('make a pending refund due, so that it is read from Stripe at once', async () => {
    const placed = await placeRefunded('pending');
    setRefundStatus(placed, 'succeeded');
    await orders.store.database.run(postpone, [placed.creator.id]);
    await orders.store.resumeOrdersAndRefunds(); // the refund is not due
    expect(await status(placed)).toBe('refund_due');
    await sendSigned(refundWithStatus(placed, 'succeeded'));
    await orders.store.resumeOrdersAndRefunds();
    expect(await status(placed)).toBe('refunded');
  });

  it('repeat a refund that failed after its success', async () => {
    const placed = await placeRefunded('succeeded');
    expect(await status(placed)).toBe('refunded');
    setRefundStatus(placed, 'failed');
    const failed = refundWithStatus(placed, 'failed');
    await sendSigned(failed);
    await orders.store.resumeOrdersAndRefunds();
    expect(await status(placed)).toBe('refund_due');
    await orders.store.database.run(makeRefundsDue);
    await orders.store.resumeOrdersAndRefunds();
    await sendSigned(failed); // Stripe may send an event more than once
    await orders.store.resumeOrdersAndRefunds();
    expect(await status(placed)).toBe('refunded');
    expect(refundsOf(placed).map((refund) => refund.status)).toEqual(['failed', 'succeeded']);
  });

  it('never cause a second refund when Stripe shows the first one as succeeded', async () => {
    const placed = await placeRefunded('succeeded');
    await sendSigned(refundWithStatus(placed, 'failed'));
    await orders.store.resumeOrdersAndRefunds();
    expect(await status(placed)).toBe('refunded');
    expect(refundsOf(placed)).toHaveLength(1);
  });

  it.each([
    eventAbout({ object: 'dispute', id: 'dp_1' }),
    eventAbout({ object: 'payment_intent', metadata: { charge_id: 'of other software' } }),
    eventAbout({ object: 'payment_intent', metadata: null }),
    eventAbout({ object: 'refund', id: 're_unknown', status: 'failed' }),
    '[]',
    'no JSON',
    '',
  ])('are accepted when they are not about our objects, or are no events (%s)', async (body) => {
    await send(body, signatureOf(body)).expect(200, { received: true });
  });

  it('are accepted with a signature under any configured secret, even after a signature under an unknown secret', async () => {
    await send('{}', signatureOf('{}', previousSecret)).expect(200);
    await send('{}', `${signatureOf('{}', 'whsec_unknown')},v1=${signatureOf('{}').split('v1=')[1]}`).expect(
      200,
    );
  });

  it.each([
    ['no signature', undefined],
    ['an empty signature', ''],
    ['the signature of another body', signatureOf('[]')],
    ['the signature of another secret', signatureOf('{}', 'whsec_unknown')],
    ['a signature of 400 s ago, above the maximum of 300 s', signatureOf('{}', secret, nowSeconds() - 400)],
    ['a signature under another time', signatureOf('{}').replace(/t=\d+/, `t=${nowSeconds() - 10}`)],
    ['a signature of another scheme', signatureOf('{}').replace('v1=', 'v0=')],
  ])('are rejected with %s', async (_, signature) => {
    const { body } = await send('{}', signature).expect(400);
    expect(body).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ field: 'stripe-signature', reason: 'must be a recent signature of Stripe' }],
    });
  });

  it('may have up to 64 KiB', async () => {
    const body = (bytes: number) => ' '.repeat(bytes);
    await send(body(65_536), signatureOf(body(65_536))).expect(200);
    await send(body(65_537), signatureOf(body(65_537))).expect(413);
  });
});

describe("the quota of Stripe's webhooks", () => {
  let orders: StripeOrders;
  afterEach(() => orders.stop());

  it('counts requests without a valid signature, by client network', async () => {
    orders = await stripeOrders({ STRIPE_WEBHOOK_SECRET: secret, RATE_LIMIT_ANONYMOUS: '2/3600' });
    const send = (signature: string, network: string) =>
      request(orders.store.server)
        .post(path)
        .set('x-forwarded-for', network)
        .set('stripe-signature', signature)
        .send('{}');
    // Redis keeps the counts of earlier runs.
    const [network, other] = [randomNetwork(), randomNetwork()];
    const statuses: number[] = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await send('t=1,v1=00', network)).status);
    expect(statuses).toEqual([400, 400, 429]);
    await send(signatureOf('{}'), network).expect(200);
    await send('t=1,v1=00', other).expect(400);
  });

  it('does not apply without a signing secret, since the path does not exist', async () => {
    orders = await stripeOrders();
    const { body } = await request(orders.store.server)
      .post(path)
      .set('stripe-signature', signatureOf('{}'))
      .send('{}')
      .expect(404);
    expect(body).toMatchObject({ code: 'NOT_FOUND' });
  });
});
