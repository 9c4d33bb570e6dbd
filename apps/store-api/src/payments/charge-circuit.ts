import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { type CircuitUser, PaymentCircuit, type Permit } from './payment-circuit.js';
import {
  type ChargeOutcome,
  PaymentMethodUnusable,
  PaymentProviderRejected,
  PaymentProviderUnavailable,
} from './payment-gateway.js';
import { type ChargeRequestOutcome, chargeRequests, circuitOpen } from './payment-metrics.js';

/** What became of asking: an outcome, or why there is none yet. */
export type Asked = ChargeOutcome | 'under_way' | 'key_spent' | 'unknown' | 'suspended';

/** The charge a request is about. */
interface ChargeSource {
  readonly id: string;
  readonly paymentMethod: string;
}

/** Asks the payment provider through the circuit breaker, and counts and logs what came of it. */
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
        if (isOpen) logger.error('The payment provider fails: orders stay pending without asking it.');
        else logger.info('The payment provider responds again: orders are charged.');
      },
    });
  }

  /** How many of `most` charges the completer may take up now. */
  roomForCompleter(most: number): number {
    return this.circuit.room('completer', most);
  }

  /**
   * Never fails. @param ask one request to the provider
   * @param stopping aborts when the process ends: then nothing is learnt of the provider
   */
  async run(
    user: CircuitUser,
    charge: ChargeSource,
    ask: () => Promise<Asked>,
    stopping?: AbortSignal,
  ): Promise<Asked> {
    const permit = this.circuit.enter(user);
    if (permit === undefined) {
      chargeRequests.inc({ outcome: 'suspended' });
      return 'suspended';
    }
    try {
      const asked = await ask();
      if (asked === 'key_spent' || asked === 'unknown') this.circuit.abandoned(permit);
      else this.circuit.responded(permit);
      chargeRequests.inc({ outcome: typeof asked === 'string' ? asked : asked.status });
      return asked;
    } catch (error) {
      if (stopping?.aborted) this.circuit.abandoned(permit);
      else this.fail(permit, charge, error);
      return 'unknown';
    }
  }

  private fail(permit: Permit, { id, paymentMethod }: ChargeSource, error: unknown): void {
    const { outcome, source, level, sentence } = failureOf(error, id, paymentMethod);
    if (source === undefined) this.circuit.abandoned(permit);
    else this.circuit.failed(permit, source);
    chargeRequests.inc({ outcome });
    this.logger[level]({ error, charge_id: id }, sentence);
  }
}

interface Failure {
  readonly outcome: ChargeRequestOutcome;
  /** What counts once towards opening the circuit; undefined when it says nothing about the provider. */
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
      sentence: 'The payment provider did not respond to a charge; it will be asked again.',
    };
  if (error instanceof PaymentProviderRejected)
    return {
      outcome: 'rejected',
      source: paymentMethod,
      level: 'error',
      sentence: 'The payment provider rejects our key, account or request; the order stays pending.',
    };
  if (error instanceof PaymentMethodUnusable)
    return {
      outcome: 'payment_method_unusable',
      source: paymentMethod,
      level: 'error',
      sentence: 'The payment provider has no such payment method under our key; the order stays pending.',
    };
  return {
    outcome: 'unknown',
    source: undefined,
    level: 'warn',
    sentence: 'The outcome of a charge is not known yet.',
  };
}
