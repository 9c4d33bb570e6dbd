import { uuidv7 } from '@fulfilment/contracts';
import { systemClock } from '@fulfilment/runtime';
import type { ChargeRequest } from './payment-gateway.js';
import { StripePaymentGateway } from './stripe-payment-gateway.js';
import {
  standInSecretKey,
  type StandInFault,
  type StripeStandIn,
  stripeStandIn,
} from './stripe-stand-in.fixture.js';

const intentsPath = '/v1/payment_intents';
const refundsPath = '/v1/refunds';
const hourMs = 3_600_000;

/** What only Stripe does; what every provider does stands in payment-gateway.spec.ts. */
describe('the Stripe payment gateway', () => {
  let standIn: StripeStandIn;
  let gateway: StripePaymentGateway;
  beforeEach(async () => {
    standIn = await stripeStandIn();
    gateway = open(standInSecretKey);
  });
  afterEach(() => standIn.stop());

  const open = (secretKey: string) =>
    new StripePaymentGateway({ secretKey, apiUrl: new URL(standIn.url), timeoutMs: 2_000 }, systemClock);
  const request = (given: Partial<ChargeRequest> = {}): ChargeRequest => ({
    idempotencyKey: uuidv7(),
    orderId: 'ord_00000000000000000000000001',
    amount: { amount: 2999, currency: 'GBP' },
    paymentMethod: 'pm_card_visa',
    reference: null,
    since: new Date(),
    ...given,
  });
  const charge = (what: ChargeRequest, by = gateway) => by.charge(what, AbortSignal.timeout(2_000));
  const refund = (idempotencyKey: string, reference: string | null) =>
    gateway.refund({ idempotencyKey, reference }, AbortSignal.timeout(2_000));
  const asked = (path: string) => standIn.requests.filter((sent) => sent.path === path);

  it("creates and confirms in one request, under the charge's key, and tells Stripe nothing of a person", async () => {
    const what = request({ amount: { amount: 4800, currency: 'JPY' } });
    const outcome = await charge(what);
    expect(outcome).toMatchObject({ status: 'succeeded', reference: standIn.intents()[0]?.id });
    const [sent] = asked(intentsPath);
    expect(sent?.key).toBe(what.idempotencyKey);
    expect(Object.fromEntries(sent?.form ?? [])).toEqual({
      amount: '4800',
      currency: 'jpy',
      payment_method: 'pm_card_visa',
      'allowed_payment_method_types[0]': 'card',
      customer: 'cus_standin',
      confirm: 'true',
      off_session: 'true',
      'metadata[order_id]': what.orderId,
      'metadata[charge_id]': what.idempotencyKey,
    });
  });

  it.each([
    ['generic_decline', 'pm_card_chargeDeclined', 2999],
    ['authentication_required', 'pm_card_authenticationRequired', 2999],
    ['resource_missing', 'pm_unknown', 2999],
    ['amount_too_large', 'pm_card_visa', 100_000_000],
  ])('takes %s for a decline', async (reason, paymentMethod, amount) => {
    const outcome = await charge(request({ paymentMethod, amount: { amount, currency: 'GBP' } }));
    expect(outcome).toMatchObject({ status: 'declined', reason });
  });

  const busy = { type: 'idempotency_error', code: 'idempotency_key_in_use', message: 'In use.' };
  const limited = { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests.' };
  const broken = { type: 'api_error', message: 'Something went wrong.' };
  it.each<[string, readonly StandInFault[]]>([
    ['409, the key is in use', [{ answer: 409, error: busy }]],
    ['429', [{ answer: 429, error: limited }]],
    ['400 as a rate limit', [{ answer: 400, error: limited }]],
    ['500', [{ answer: 500, error: broken }]],
    ['503', [{ answer: 503, error: broken }]],
    ['a connection cut before the charge', ['lost-request', 'lost-request']],
    ['a connection cut after the charge', ['lost-answer', 'lost-answer']],
    ['an answer that never ends', ['dripping']],
  ])('does not know the outcome after %s, and charges once when asked again', async (_, faults) => {
    const what = request();
    standIn.fail(intentsPath, ...faults);
    await expect(gateway.charge(what, AbortSignal.timeout(400))).rejects.toThrow();
    expect(await charge(what)).toMatchObject({ status: 'succeeded' });
    expect(standIn.intents()).toHaveLength(1);
  });

  it('does not know the outcome while Stripe refuses our key', async () => {
    await expect(charge(request(), open('sk_test_other'))).rejects.toThrow();
    expect(standIn.intents()).toEqual([]);
  });

  it('waits for a charge that Stripe has in hand, by its name', async () => {
    standIn.confirmWith('processing');
    const what = request();
    const underWay = await charge(what);
    const [intent] = standIn.intents();
    expect(underWay).toEqual({ status: 'under_way', reference: intent?.id });
    if (intent !== undefined) intent.status = 'succeeded';
    standIn.forgetKeys();
    const { reference } = underWay;
    expect(await charge({ ...what, reference })).toMatchObject({ status: 'succeeded', reference });
    expect(standIn.intents()).toHaveLength(1);
  });

  describe('when the idempotency key may be forgotten', () => {
    it('finds the charge that was made, and makes no other', async () => {
      const what = request({ since: new Date(Date.now() - 24 * hourMs) });
      standIn.fail(intentsPath, 'lost-answer', 'lost-answer');
      await expect(charge(what)).rejects.toThrow();
      standIn.forgetKeys();
      const [intent] = standIn.intents();
      expect(await charge(what)).toMatchObject({ status: 'succeeded', reference: intent?.id });
      expect(standIn.intents()).toHaveLength(1);
    });

    it('charges when none was made', async () => {
      const what = request({ since: new Date(Date.now() - 24 * hourMs) });
      expect(await charge(what)).toMatchObject({ status: 'succeeded' });
      expect(standIn.intents()).toHaveLength(1);
    });

    it('takes a refund that was made for done', async () => {
      const what = request();
      const { reference } = await charge(what);
      await refund(what.idempotencyKey, reference);
      standIn.forgetKeys();
      await refund(what.idempotencyKey, reference);
      expect(standIn.refunds).toHaveLength(1);
    });
  });

  it('finds the charge when an earlier release asked for it in other words', async () => {
    const what = request();
    const { reference } = await charge(what);
    expect(await charge({ ...what, orderId: 'ord_00000000000000000000000002' })).toMatchObject({ reference });
    expect(standIn.intents()).toHaveLength(1);
  });

  it('refunds a charge whose name was not kept', async () => {
    const what = request();
    await charge(what);
    await refund(what.idempotencyKey, null);
    expect(asked(refundsPath).map(({ key }) => key)).toEqual([`${what.idempotencyKey}:refund`]);
    expect(standIn.refunds).toHaveLength(1);
  });

  it('owes a refund that failed', async () => {
    const what = request();
    const { reference } = await charge(what);
    standIn.refundWith('failed');
    await expect(refund(what.idempotencyKey, reference)).rejects.toThrow(/failed/);
    standIn.forgetKeys();
    await refund(what.idempotencyKey, reference);
    expect(standIn.refunds.map(({ status }) => status)).toEqual(['failed', 'succeeded']);
  });
});
