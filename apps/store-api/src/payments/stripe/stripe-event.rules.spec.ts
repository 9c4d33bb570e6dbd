import { createHmac } from 'node:crypto';
import { hintOf, isSignedByStripe } from './stripe-event.rules.js';
import { isTestKey } from './stripe-key.rules.js';

const chargeId = '01920000-0000-7000-8000-000000000001';
const eventAbout = (object: unknown) => Buffer.from(JSON.stringify({ data: { object } }));

describe('an event of Stripe', () => {
  it.each([
    [
      { object: 'payment_intent', metadata: { charge_id: chargeId } },
      { about: 'charge', chargeId },
    ],
    [
      { object: 'refund', id: 're_1', status: 'failed' },
      { about: 'refund', reference: 're_1', isFailure: true },
    ],
    [
      { object: 'refund', id: 're_1', status: 'canceled' },
      { about: 'refund', reference: 're_1', isFailure: true },
    ],
    [
      { object: 'refund', id: 're_1', status: 'pending' },
      { about: 'refund', reference: 're_1', isFailure: false },
    ],
    [
      { object: 'refund', id: 're_1', status: null },
      { about: 'refund', reference: 're_1', isFailure: false },
    ],
    [
      { object: 'refund', id: 're_1' },
      { about: 'refund', reference: 're_1', isFailure: false },
    ],
    [{ object: 'refund', id: 'r'.repeat(256) }, undefined],
    [{ object: 'payment_intent', metadata: { charge_id: 'of other software' } }, undefined],
    [{ object: 'payment_intent', metadata: {} }, undefined],
    [{ object: 'charge', id: 'ch_1', metadata: { charge_id: chargeId } }, undefined],
  ])('about %j is the hint %j', (object, hint) => {
    expect(hintOf(eventAbout(object))).toEqual(hint);
  });

  it('that is not JSON is no hint', () => {
    expect(hintOf(Buffer.from('{'))).toBeUndefined();
  });
});

describe('the signature of an event', () => {
  const now = new Date('2026-11-20T12:00:00Z');
  const body = eventAbout({ object: 'refund', id: 're_1' });
  const signatureWith = (secret: string, ageSeconds: number) => {
    const seconds = now.getTime() / 1000 - ageSeconds;
    return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body.toString()}`).digest('hex')}`;
  };
  const secrets = ['whsec_current', 'whsec_previous'];

  it.each([
    ['by the current secret', signatureWith('whsec_current', 0), true],
    ['by the previous secret', signatureWith('whsec_previous', 0), true],
    ['by another secret', signatureWith('whsec_other', 0), false],
    ['300 s ago', signatureWith('whsec_current', 300), true],
    ['301 s ago', signatureWith('whsec_current', 301), false],
    ['by none', '', false],
  ])('made %s is accepted: %p', (_, signature, expected) => {
    expect(isSignedByStripe(body, signature, secrets, now)).toBe(expected);
  });
});

describe("a key of Stripe's API", () => {
  it.each([
    ['sk_test_x', true],
    ['rk_test_x', true],
    ['sk_live_x', false],
    ['rk_live_sk_test_x', false],
    ['pk_test_x', false],
  ])('%s is a test key: %p', (key, expected) => {
    expect(isTestKey(key)).toBe(expected);
  });
});
