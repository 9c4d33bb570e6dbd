import type { Money } from '@fulfilment/contracts';

/** One attempt to charge an order, as its charge row describes it. */
export interface Charge {
  /** Id of the charge row. The provider charges once per id. */
  readonly id: string;
  /** The provider's id of the charge, once known. The sandbox has none. */
  readonly reference: string | null;
  /** Whether it is a charge of a test order: it moves no money, whatever the provider. */
  readonly isTest: boolean;
}

/** A charge whose outcome is not known. */
export interface OpenCharge extends Charge {
  readonly orderId: string;
  readonly amount: Money;
  readonly paymentMethod: string;
  /** When the charge row was written, by PostgreSQL's clock. */
  readonly createdAt: Date;
  /** False once a request for this charge may have reached the provider. */
  readonly isFirstRequest: boolean;
}

export type ChargeOutcome =
  | { readonly status: 'succeeded'; readonly chargedAt: Date; readonly reference: string | null }
  /** `reason` is the provider's code, such as `card_declined` or `amount_too_large`. */
  | { readonly status: 'declined'; readonly reason: string; readonly reference: string | null };

/** The provider is processing the request, for seconds or days; the outcome follows later. */
export interface UnderWay {
  readonly status: 'under_way';
  readonly reference: string;
}

/** A charge to refund in full. */
export interface RefundRequest extends Charge {
  /** The provider's id of the refund under way, once known. */
  readonly refundReference: string | null;
}

export type RefundOutcome =
  | { readonly status: 'refunded'; readonly reference: string | null }
  /** The refund failed permanently. The next request makes another one. */
  | { readonly status: 'failed'; readonly reason: string };

/** A time range; the end is exclusive. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

/** A successful payment of ours at the provider. */
export interface ProviderPayment {
  /** The provider's id of the payment. The sandbox has none. */
  readonly reference: string | null;
  /** The charge id in the provider's metadata; not necessarily a UUID. */
  readonly chargeId: string;
  /** Whether it was refunded in full. */
  readonly refunded: boolean;
}

export type PaymentFailure =
  /** No response, or none with the outcome of the charge. A retry may succeed. */
  | 'unavailable'
  /** The provider rejects our key, account or request, as it would for every charge. */
  | 'rejected'
  /** The provider cannot use this payment method, or our key is wrong: it is not certain which. */
  | 'payment_method_unusable';

/** The payment provider returned no outcome of a request. */
export class PaymentProviderError extends Error {
  override readonly name = 'PaymentProviderError';

  /** @param code the provider's code of the error */
  constructor(
    readonly failure: PaymentFailure,
    readonly code: string,
    options?: ErrorOptions,
  ) {
    super(`Payment provider: ${failure} (${code}).`, options);
  }
}

/** The port to the payment provider. payment-gateway.spec.ts tests the contract of every implementation. */
export abstract class PaymentGateway {
  /** Checks our key at start. @throws PaymentProviderError */
  abstract checkKey(): Promise<void>;
  /**
   * Charges once per charge id: a repeated request returns the outcome of the first one.
   * @throws PaymentProviderError, or another error when the outcome is not known yet or the id was used for
   *   another charge
   */
  abstract charge(charge: OpenCharge, signal: AbortSignal): Promise<ChargeOutcome | UnderWay>;
  /**
   * Refunds a charge in full, once: a repeated request returns the outcome of the first one that did not
   * fail.
   * @throws when nothing was charged, or the outcome is not known in time
   */
  abstract refund(request: RefundRequest, signal: AbortSignal): Promise<RefundOutcome | UnderWay>;
  /** Returns the provider's successful payment of a charge, or undefined if there is none. */
  abstract find(charge: Charge, signal: AbortSignal): Promise<ProviderPayment | undefined>;
  /** Yields pages of our successful payments that were started in the range. */
  abstract listPayments(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly ProviderPayment[]>;
  /** Yields pages of the provider's ids of refunds that were started in the range and failed permanently. */
  abstract listFailedRefunds(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly string[]>;
}
