import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { PaymentCircuit, type Permit } from './payment-circuit.js';
import {
  type ChargeOutcome,
  type OpenCharge,
  PaymentMethodUnusable,
  PaymentProviderRejected,
  PaymentProviderUnavailable,
  type UnderWay,
} from '../payments/payment-gateway.js';
import { type ChargeRequestOutcome, chargeRequests, circuitOpen } from './payment-metrics.js';

/** The provider's result for a charge, or why there is none yet. */
export type ChargeResult = ChargeOutcome | UnderWay | { readonly status: 'unknown' | 'suspended' };

/** Sends charges to the payment provider through the circuit breaker; counts and logs the results. */
@Injectable()
export class ChargeCircuit {
  private readonly circuit: PaymentCircuit;

  constructor(
    @Inject(CONFIG) config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    circuitOpen.set(0);
    this.circuit = new PaymentCircuit({
      failures: config.PAYMENT_CIRCUIT_FAILURES,
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

  /** How many of `max` charges the completer may start now. */
  completerCapacity(max: number): number {
    return this.circuit.capacity('completer', max);
  }

  /**
   * Never throws.
   * @param send sends the charge to the provider
   * @param stopping aborts when the process ends; a failed request then does not count as a failure of the
   * provider. Undefined for the charge of a request, which the completer's take precedence over.
   */
  async run(
    charge: OpenCharge,
    send: () => Promise<ChargeOutcome | UnderWay>,
    stopping?: AbortSignal,
  ): Promise<ChargeResult> {
    const permit = this.circuit.enter(stopping === undefined ? 'request' : 'completer');
    if (permit === undefined) {
      chargeRequests.inc({ outcome: 'suspended' });
      return { status: 'suspended' };
    }
    try {
      const result = await send();
      this.circuit.responded(permit);
      chargeRequests.inc({ outcome: result.status });
      return result;
    } catch (error) {
      if (stopping?.aborted) this.circuit.abandoned(permit);
      else this.fail(permit, charge, error);
      return { status: 'unknown' };
    }
  }

  private fail(permit: Permit, { id, paymentMethod }: OpenCharge, error: unknown): void {
    const { outcome, source, level, sentence } = failureOf(error, id, paymentMethod);
    if (source === undefined) this.circuit.abandoned(permit);
    else this.circuit.failed(permit, source);
    chargeRequests.inc({ outcome });
    this.logger[level]({ error, charge_id: id }, sentence);
  }
}

interface Failure {
  readonly outcome: ChargeRequestOutcome;
  /**
   * Each source counts once towards opening the circuit; undefined when the failure is not the provider's.
   */
  readonly source: string | undefined;
  readonly level: 'warn' | 'error';
  readonly sentence: string;
}

function failureOf(error: unknown, chargeId: string, paymentMethod: string): Failure {
  if (error instanceof PaymentProviderUnavailable)
    return {
      outcome: 'unavailable',
      source: chargeId,
      level: 'warn',
      sentence: 'The payment provider did not respond to a charge; will retry.',
    };
  if (error instanceof PaymentProviderRejected)
    return {
      outcome: 'rejected',
      source: paymentMethod,
      level: 'error',
      sentence: 'The payment provider rejected our key, account or request; the order stays pending.',
    };
  if (error instanceof PaymentMethodUnusable)
    return {
      outcome: 'payment_method_unusable',
      source: paymentMethod,
      level: 'error',
      sentence:
        'The payment method does not exist at the payment provider under our key; the order stays pending.',
    };
  return {
    outcome: 'unknown',
    source: undefined,
    level: 'warn',
    sentence: 'The outcome of a charge is not known yet.',
  };
}
