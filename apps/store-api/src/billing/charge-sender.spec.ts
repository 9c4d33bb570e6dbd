import { metrics } from '@fulfilment/runtime';
import './charge-sender.js';

describe('the count of charges', () => {
  it('starts at 0 for every failure, so that alerts see the first one', async () => {
    const values = (await metrics.getSingleMetric('payment_charge_requests_total')?.get())?.values ?? [];
    expect(values.map(({ labels }) => labels['outcome'])).toEqual(
      expect.arrayContaining(['rejected', 'payment_method_unusable', 'unavailable']),
    );
  });
});
