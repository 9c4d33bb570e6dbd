import { Counter, Gauge, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { type CircuitUser, PaymentCircuitBreaker, type Permit } from './payment-circuit-breaker.js';
import {
  type ChargeOutcome,
  type OpenCharge,
  type PaymentFailure,
  PaymentProviderError,
  type UnderWay,
} from '../payments/payment-gateway.js';

const chargeRequests = new Counter<'outcome'>({
  name: 'payment_charge_requests_total',
  help: 'Charges by outcome; suspended charges were not sent to the payment provider because the circuit is open',
  labelNames: ['outcome'],
});
const circuitOpen = new Gauge({
  name: 'payment_circuit_open',
  help: '1 while the payment circuit of this replica is open and its new orders stay pending',
});

/** The log entry of a failed charge, by outcome. */
const failureLogs = {
  unavailable: {
    level: 'warn',
    sentence: 'The payment provider did not return the outcome of a charge; will retry.',
  },
  rejected: {
    level: 'error',
    sentence: 'The payment provider rejected our key, account or request; the order stays pending.',
  },
  payment_method_unusable: {
    level: 'error',
    sentence:
      'The payment provider cannot use the payment method: it is missing under our key, or detached; the order stays pending.',
  },
  unknown: { level: 'warn', sentence: 'The outcome of a charge is not known yet.' },
} as const satisfies Record<PaymentFailure | 'unknown', object>;

// The counts of failures start at 0, so that alerts see the first failure as an increase.
for (const outcome of Object.keys(failureLogs)) chargeRequests.inc({ outcome }, 0);

/** The provider's result for a charge, or why there is none yet. */
type ChargeResult = ChargeOutcome | UnderWay | { readonly status: 'unknown' | 'suspended' };

/**
 * Sends charges to the payment provider through the circuit breaker; counts the results and logs failures.
 * Test orders go to the sandbox, and are neither counted nor affected by the circuit.
 */
@Injectable()
export class ChargeSender {
  private readonly circuit: PaymentCircuitBreaker;

  constructor(
    @Inject(CONFIG)
    config: Pick<StoreApiSettings, 'PAYMENT_CIRCUIT_FAILURES' | 'PAYMENT_CIRCUIT_OPEN_MS'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    circuitOpen.set(0);
    this.circuit = new PaymentCircuitBreaker({
      failedSourcesToOpen: config.PAYMENT_CIRCUIT_FAILURES,
      openMs: config.PAYMENT_CIRCUIT_OPEN_MS,
      now: () => performance.now(),
      onChange: (isOpen) => {
        circuitOpen.set(isOpen ? 1 : 0);
        if (isOpen)
          logger.error('Payment circuit opened: the payment provider fails, and new orders stay pending.');
        else logger.info('Payment circuit closed: the payment provider responds again.');
      },
    });
  }

  /** Number of charges of live orders that the completer may start now, `max` at most. */
  completerCapacity(max: number): number {
    return this.circuit.capacity('completer', max);
  }

  /**
   * Never throws.
   * @param send sends the charge to the provider
   * @param stopping aborts when the completer stops. A charge that fails after that does not count as a
   *   failure of the provider
   */
  async run(
    charge: OpenCharge,
    user: CircuitUser,
    send: () => Promise<ChargeOutcome | UnderWay>,
    stopping?: AbortSignal,
  ): Promise<ChargeResult> {
    if (charge.isTest) return this.sendToSandbox(charge, send);
    const permit = this.circuit.enter(user);
    if (permit === undefined) {
      chargeRequests.inc({ outcome: 'suspended' });
      return { status: 'suspended' };
    }
    try {
      const result = await send();
      this.circuit.recordResult(permit);
      chargeRequests.inc({ outcome: result.status });
      return result;
    } catch (error) {
      if (stopping?.aborted) this.circuit.release(permit);
      else this.recordFailure(permit, charge, error);
      return { status: 'unknown' };
    }
  }

  /** Bypasses the circuit breaker, which belongs to the configured provider. */
  private async sendToSandbox(
    { id }: OpenCharge,
    send: () => Promise<ChargeOutcome | UnderWay>,
  ): Promise<ChargeResult> {
    try {
      return await send();
    } catch (error) {
      this.logger.warn({ error, charge_id: id }, failureLogs.unknown.sentence);
      return { status: 'unknown' };
    }
  }

  private recordFailure(permit: Permit, { id, paymentMethod }: OpenCharge, error: unknown): void {
    const outcome = error instanceof PaymentProviderError ? error.failure : 'unknown';
    // The circuit counts an unavailable provider once per charge, however often the charge is retried, and a
    // rejection once per payment method, however many of its charges are rejected.
    if (outcome === 'unknown') this.circuit.release(permit);
    else this.circuit.recordFailure(permit, outcome === 'unavailable' ? id : paymentMethod);
    chargeRequests.inc({ outcome });
    const { level, sentence } = failureLogs[outcome];
    this.logger[level]({ error, charge_id: id }, sentence);
  }
}
