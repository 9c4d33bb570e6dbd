import { metrics } from '@fulfilment/runtime';
import { auditEvents } from './audit-log.js';

describe('the count of lost audit records', () => {
  it('starts at 0 for every event, so that the alert sees the first loss', async () => {
    const values = (await metrics.getSingleMetric('audit_records_lost_total')?.get())?.values ?? [];
    expect(values.map(({ labels, value }) => [labels['event'], value])).toEqual(
      expect.arrayContaining(auditEvents.map((event) => [event, 0])),
    );
  });
});
