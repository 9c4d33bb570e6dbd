import { Counter, Gauge, metrics } from '@fulfilment/runtime';

/** The result of a charge request. */
export type ChargeRequestOutcome =
  | 'succeeded'
  | 'declined'
  | 'under_way'
  | 'key_spent'
  | 'unavailable'
  | 'rejected'
  | 'payment_method_unusable'
  | 'unknown'
  | 'suspended';

export const chargeRequests = new Counter<'outcome'>({
  name: 'payment_charge_requests_total',
  help: 'Charges asked of the payment provider, by outcome; suspended ones were not asked, because the circuit is open',
  labelNames: ['outcome'],
  registers: [metrics],
});

export const circuitOpen = new Gauge({
  name: 'payment_circuit_open',
  help: '1 while this replica leaves orders pending without asking the payment provider',
  registers: [metrics],
});
