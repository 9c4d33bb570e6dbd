import { createLogger, metrics } from '@fulfilment/runtime';
import { type OpenCharge, PaymentProviderError } from '../payments/payment-gateway.js';
import { ChargeSender } from './charge-sender.js';

describe('the count of charges', () => {
  it('starts at 0 for every failure, so that alerts see the first one', async () => {
    const values = (await metrics.getSingleMetric('payment_charge_requests_total')?.get())?.values ?? [];
    for (const outcome of ['rejected', 'payment_method_unusable', 'unavailable', 'unknown'])
      expect(values).toContainEqual({ labels: { outcome }, value: 0 });
  });
});

describe('the circuit of the payment provider', () => {
  const charge = (isTest: boolean): OpenCharge => ({
    id: '01900000-0000-7000-8000-000000000001',
    orderId: '01900000-0000-7000-8000-000000000002',
    amount: { amount: 2999, currency: 'GBP' },
    paymentMethod: 'pm_ok',
    reference: null,
    createdAt: new Date(),
    isFirstRequest: true,
    isTest,
  });
  const paid = { status: 'succeeded', chargedAt: new Date(), reference: null } as const;
  const unavailable = () => Promise.reject(new PaymentProviderError('unavailable', 'timeout'));

  it('is neither opened nor closed by charges of test orders, which are sent while it is open', async () => {
    const sender = new ChargeSender(
      { PAYMENT_CIRCUIT_FAILURES: 1, PAYMENT_CIRCUIT_OPEN_MS: 60_000 },
      createLogger('test', 'silent'),
    );
    await sender.run(charge(true), unavailable);
    await sender.run(charge(true), unavailable);
    expect(await sender.run(charge(false), () => Promise.resolve(paid))).toEqual(paid);
    await sender.run(charge(false), unavailable);
    expect(await sender.run(charge(true), () => Promise.resolve(paid))).toEqual(paid);
    expect(await sender.run(charge(false), () => Promise.resolve(paid))).toEqual({ status: 'suspended' });
  });
});
