import { Counter } from '@fulfilment/runtime';

export const recordsLost = new Counter({
  name: 'audit_records_lost_total',
  help: 'Audit records that could not be written and are missing; their actions took place.',
  labelNames: ['event'],
});

export const recordsWritten = new Counter({
  name: 'audit_events_total',
  help: 'Audit records by event, for alerts on failed sign-ins, lockouts and reused tokens.',
  labelNames: ['event'],
});
