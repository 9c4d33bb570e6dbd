import { Counter, Gauge, metrics } from '@fulfilment/runtime';

/** The result of a charge request. */
export type ChargeRequestOutcome =
  | 'succeeded'
  | 'declined'
  | 'under_way'
  | 'unavailable'
  | 'rejected'
  | 'payment_method_unusable'
  | 'unknown'
  | 'suspended';

export const chargeRequests = new Counter<'outcome'>({
  name: 'payment_charge_requests_total',
  help: 'Charges by outcome; suspended charges were not sent to the payment provider because the circuit is open',
  labelNames: ['outcome'],
  registers: [metrics],
});

export const circuitOpen = new Gauge({
  name: 'payment_circuit_open',
  help: '1 while the payment circuit of this replica is open and its new orders stay pending',
  registers: [metrics],
});
