import { Counter, metrics } from '@fulfilment/runtime';

export const recordsLost = new Counter({
  name: 'audit_records_lost_total',
  help: 'Audit records that could not be written together with what they record.',
  labelNames: ['event'],
  registers: [metrics],
});

export const recordsWritten = new Counter({
  name: 'audit_events_total',
  help: 'Audit records by event, for alerts on failed sign-ins, lockouts and reused tokens.',
  labelNames: ['event'],
  registers: [metrics],
});
