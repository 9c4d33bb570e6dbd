import type { Money } from '@fulfilment/contracts';

export interface ChargeRequest {
  /** The charge row's id. The provider charges once for one key, however often it is asked. */
  readonly idempotencyKey: string;
  readonly amount: Money;
  readonly paymentMethod: string;
}

export type ChargeOutcome =
  | { readonly status: 'succeeded'; readonly at: Date }
  | { readonly status: 'declined'; readonly reason: string };

/** The payment provider, as the orders see it. */
export abstract class PaymentGateway {
  /** Charges once for the key. @throws when the outcome cannot be known in time */
  abstract charge(request: ChargeRequest, signal: AbortSignal): Promise<ChargeOutcome>;
  /** Gives all of a charge back; a second time changes nothing. */
  abstract refund(idempotencyKey: string, signal: AbortSignal): Promise<void>;
}
