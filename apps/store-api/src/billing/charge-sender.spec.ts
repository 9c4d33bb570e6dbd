import { createLogger, metrics } from '@fulfilment/runtime';
import { newCharge } from '../payments/open-charge.fixture.js';
import { type PaymentFailure, PaymentProviderError } from '../payments/payment-gateway.js';
import { ChargeSender } from './charge-sender.js';

describe('the count of charges', () => {
  it('starts at 0 for every failure, so that alerts see the first one', async () => {
    const values = (await metrics.getSingleMetric('payment_charge_requests_total')?.get())?.values ?? [];
    for (const outcome of ['rejected', 'payment_method_unusable', 'unavailable', 'unknown'])
      expect(values).toContainEqual({ labels: { outcome }, value: 0 });
  });
});

describe('the circuit of the payment provider', () => {
  const liveCharge = () => newCharge();
  const testCharge = () => newCharge({ isTest: true });
  const paid = { status: 'succeeded', chargedAt: new Date(), reference: null } as const;
  const failWith = (failure: PaymentFailure) => () => Promise.reject(new PaymentProviderError(failure, 'x'));
  const newSender = () =>
    new ChargeSender(
      { PAYMENT_CIRCUIT_FAILURES: 1, PAYMENT_CIRCUIT_OPEN_MS: 60_000 },
      createLogger('test', 'silent'),
    );

  it.each<PaymentFailure>(['unavailable', 'rejected', 'payment_method_unusable'])(
    'is opened by a charge that fails as %s',
    async (failure) => {
      const sender = newSender();
      expect(await sender.run(liveCharge(), 'request', failWith(failure))).toEqual({ status: 'unknown' });
      expect(await sender.run(liveCharge(), 'request', () => Promise.resolve(paid))).toEqual({
        status: 'suspended',
      });
    },
  );

  it('stays closed when the outcome of a charge is unknown', async () => {
    const sender = newSender();
    const unknown = () => Promise.reject(new Error('The key is in use.'));
    expect(await sender.run(liveCharge(), 'request', unknown)).toEqual({ status: 'unknown' });
    expect(await sender.run(liveCharge(), 'request', () => Promise.resolve(paid))).toEqual(paid);
  });

  it('is neither opened nor closed by charges of test orders, which are sent while it is open', async () => {
    const sender = newSender();
    await sender.run(testCharge(), 'request', failWith('unavailable'));
    await sender.run(testCharge(), 'request', failWith('unavailable'));
    expect(await sender.run(liveCharge(), 'request', () => Promise.resolve(paid))).toEqual(paid);
    await sender.run(liveCharge(), 'request', failWith('unavailable'));
    expect(await sender.run(testCharge(), 'request', () => Promise.resolve(paid))).toEqual(paid);
    expect(await sender.run(liveCharge(), 'request', () => Promise.resolve(paid))).toEqual({
      status: 'suspended',
    });
  });
});
