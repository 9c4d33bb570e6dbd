import { uuidv7 } from '@fulfilment/contracts';
import type { ChargeRequest, RefundRequest } from './payment-gateway.js';
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
const minuteMs = 60_000;

/** What only Stripe does; what every provider does stands in payment-gateway.spec.ts. */
describe('the Stripe payment gateway', () => {
  let standIn: StripeStandIn;
  let gateway: StripePaymentGateway;
  let laterMs: number;
  const clock = () => new Date(Date.now() + laterMs);
  beforeEach(async () => {
    laterMs = 0;
    standIn = await stripeStandIn(clock);
    gateway = open(standInSecretKey);
  });
  afterEach(() => standIn.stop());

  const open = (secretKey: string) =>
    new StripePaymentGateway({ secretKey, apiUrl: new URL(standIn.url), timeoutMs: 2_000 }, clock);
  const request = (given: Partial<ChargeRequest> = {}): ChargeRequest => ({
    idempotencyKey: uuidv7(),
    orderId: 'ord_00000000000000000000000001',
    amount: { amount: 2999, currency: 'GBP' },
    paymentMethod: 'pm_card_visa',
    reference: null,
    since: new Date(),
    keyNumber: 1,
    keySpentAt: null,
    ...given,
  });
  const charge = (what: ChargeRequest, by = gateway) => by.charge(what, AbortSignal.timeout(2_000));
  const refund = (idempotencyKey: string, reference: string | null, given: Partial<RefundRequest> = {}) =>
    gateway.refund(
      { idempotencyKey, reference, refundReference: null, refundKeyNumber: 1, ...given },
      AbortSignal.timeout(2_000),
    );
  /** The name of the PaymentIntent. */
  const charged = async (what: ChargeRequest): Promise<string | null> => {
    const told = await charge(what);
    return 'reference' in told ? told.reference : null;
  };
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
      'expand[0]': 'latest_charge',
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

  it("tells the time of the charge, which may come after the PaymentIntent's", async () => {
    standIn.confirmWith('processing');
    const what = request();
    await charge(what);
    const [intent] = standIn.intents();
    if (intent?.latest_charge == null) throw new Error('Nothing was charged.');
    intent.status = 'succeeded';
    intent.latest_charge.created = intent.created + 3_600;
    const told = await charge({ ...what, reference: intent.id });
    expect(told).toMatchObject({ at: new Date((intent.created + 3_600) * 1000) });
  });

  it('waits for a charge that Stripe has in hand, by its name', async () => {
    standIn.confirmWith('processing');
    const what = request();
    const underWay = await charge(what);
    const [intent] = standIn.intents();
    expect(underWay).toEqual({ status: 'under_way', reference: intent?.id });
    if (intent !== undefined) intent.status = 'succeeded';
    standIn.forgetKeys();
    const reference = intent?.id ?? null;
    expect(await charge({ ...what, reference })).toMatchObject({ status: 'succeeded', reference });
    expect(standIn.intents()).toHaveLength(1);
  });

  describe('when Stripe breaks and repeats its 500 under the key', () => {
    /** The request as it stands when the key has been found to be spent. */
    const spent = async (fault: StandInFault, given: Partial<ChargeRequest> = {}): Promise<ChargeRequest> => {
      const what = request(given);
      standIn.fail(intentsPath, fault);
      await expect(charge(what)).rejects.toThrow();
      expect(await charge(what)).toEqual({ status: 'key_spent' });
      return { ...what, keySpentAt: clock() };
    };
    const keys = () => asked(intentsPath).flatMap(({ method, key }) => (method === 'POST' ? [key] : []));

    it('charges once, under the next key, when its books have no charge', async () => {
      const what = await spent('broken-before');
      laterMs += 2 * minuteMs;
      expect(await charge(what)).toEqual({ status: 'nothing_charged' });
      const next = { ...what, keyNumber: 2, keySpentAt: null };
      expect(await charge(next)).toMatchObject({ status: 'succeeded' });
      expect(await charge(next)).toMatchObject({ status: 'succeeded' });
      const first = what.idempotencyKey;
      expect(keys()).toEqual([first, first, `${first}:2`, `${first}:2`]);
      expect(standIn.intents()).toHaveLength(1);
    });

    it('does not look, nor ask under another key, before Stripe had time to mend it', async () => {
      const what = await spent('broken-before');
      const before = standIn.requests.length;
      laterMs += minuteMs / 2;
      expect(await charge(what)).toEqual({ status: 'key_spent' });
      expect(standIn.requests).toHaveLength(before);
    });

    it('finds the charge that was made, which searching does not know, among others of the customer', async () => {
      standIn.letSearchBeBehind();
      const what = await spent('broken-after');
      const [made] = standIn.intents();
      for (let others = 0; others < 7; others += 1) await charge(request());
      laterMs += 2 * minuteMs;
      expect(await charge(what)).toMatchObject({ status: 'succeeded', reference: made?.id });
      expect(standIn.intents()).toHaveLength(8);
    });

    it('finds the decline', async () => {
      const what = await spent('broken-after', { paymentMethod: 'pm_card_insufficientFunds' });
      laterMs += 2 * minuteMs;
      expect(await charge(what)).toMatchObject({ status: 'declined', reason: 'insufficient_funds' });
    });

    it.each([
      ['pm_card_visa', { status: 'succeeded' }],
      ['pm_card_chargeDeclined', { status: 'declined', reason: 'generic_decline' }],
    ])('goes on with what was made and not confirmed (%s)', async (paymentMethod, outcome) => {
      const what = await spent('broken-between', { paymentMethod });
      laterMs += 2 * minuteMs;
      expect(await charge(what)).toMatchObject({ ...outcome, reference: standIn.intents()[0]?.id });
      expect(await charge(what)).toMatchObject(outcome);
      expect(standIn.intents()).toHaveLength(1);
    });

    it('takes the money of an earlier key that came late for the outcome, whatever became of the later one', async () => {
      const first = await spent('broken-between');
      const [late] = standIn.intents();
      const second = { ...first, keyNumber: 2, keySpentAt: null };
      standIn.fail(intentsPath, 'broken-between');
      await expect(charge(second)).rejects.toThrow();
      expect(await charge(second)).toEqual({ status: 'key_spent' });
      if (late !== undefined) late.status = 'succeeded'; // Stripe rolled it forward
      const spentAt = clock();
      laterMs += 2 * minuteMs;
      expect(await charge({ ...second, keySpentAt: spentAt })).toMatchObject({ reference: late?.id });
      expect(standIn.intents().filter(({ status }) => status === 'succeeded')).toHaveLength(1);
    });

    it('does not take a 5xx from before the API for the end of a key', async () => {
      const what = request();
      standIn.fail(intentsPath, { answer: 504, error: broken }, { answer: 500, error: broken });
      await expect(charge(what)).rejects.toThrow();
      await expect(charge(what)).rejects.toThrow();
      expect(await charge(what)).toMatchObject({ status: 'succeeded' });
      expect(new Set(keys())).toEqual(new Set([what.idempotencyKey]));
    });
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
      const reference = await charged(what);
      await refund(what.idempotencyKey, reference);
      standIn.forgetKeys();
      await refund(what.idempotencyKey, reference);
      expect(standIn.refunds).toHaveLength(1);
    });
  });

  it('finds the charge when an earlier release asked for it in other words', async () => {
    const what = request();
    const reference = await charged(what);
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

  describe('a refund', () => {
    let chargeId: string;
    let reference: string | null;
    beforeEach(async () => {
      const what = request();
      chargeId = what.idempotencyKey;
      reference = await charged(what);
    });
    const ask = (given: Partial<RefundRequest> = {}) => refund(chargeId, reference, given);
    const becomes = (status: string) => {
      const [made] = standIn.refunds;
      if (made !== undefined) made.status = status;
      return made?.id ?? '';
    };

    it.each([
      ['pending', 'succeeded', { status: 'refunded' }],
      ['requires_action', 'pending', { status: 'under_way' }],
      ['pending', 'failed', { status: 'failed', reason: 'failed' }],
      ['pending', 'canceled', { status: 'failed', reason: 'canceled' }],
    ])('that is %s is under way, and is asked after by its name when it is %s', async (first, then, told) => {
      standIn.refundWith(first);
      const underWay = await ask();
      const refundReference = becomes(then);
      expect(underWay).toEqual({ status: 'under_way', reference: refundReference });
      expect(await ask({ refundReference })).toMatchObject(told);
      expect(asked(refundsPath)).toHaveLength(1);
    });

    it('whose name was not kept is told as at first by its key: its name tells more', async () => {
      standIn.refundWith('pending');
      await ask();
      const refundReference = becomes('succeeded');
      expect(await ask()).toEqual({ status: 'under_way', reference: refundReference });
      expect(standIn.refunds).toHaveLength(1);
    });

    it('that failed is made again under the next key', async () => {
      standIn.refundWith('failed');
      expect(await ask()).toMatchObject({ status: 'failed' });
      expect(await ask()).toMatchObject({ status: 'failed' });
      expect(await ask({ refundKeyNumber: 2 })).toMatchObject({ status: 'refunded' });
      expect(standIn.refunds.map(({ status }) => status)).toEqual(['failed', 'succeeded']);
      expect(asked(refundsPath).at(-1)?.key).toBe(`${chargeId}:refund:2`);
    });

    it.each<StandInFault>(['broken-before', 'broken-after'])(
      'is made once when Stripe breaks and repeats its 500 (%s)',
      async (fault) => {
        standIn.fail(refundsPath, fault);
        await expect(ask()).rejects.toThrow();
        expect(await ask()).toEqual({ status: 'failed', reason: 'key_spent' });
        expect(await ask({ refundKeyNumber: 2 })).toMatchObject({ status: 'refunded' });
        expect(standIn.refunds).toHaveLength(1);
      },
    );

    it('that another key finds made, but pending, is under way', async () => {
      standIn.refundWith('pending');
      await ask();
      expect(await ask({ refundKeyNumber: 2 })).toEqual({
        status: 'under_way',
        reference: becomes('pending'),
      });
    });
  });
});
