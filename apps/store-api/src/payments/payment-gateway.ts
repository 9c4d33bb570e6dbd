import type { Money } from '@fulfilment/contracts';

/** One attempt at charging an order, from its charge row. */
export interface Charge {
  /** The charge row's id: its first idempotency key. The provider charges once per key. */
  readonly idempotencyKey: string;
  /** The provider's id of the charge, once known. */
  readonly reference: string | null;
}

export interface ChargeRequest extends Charge {
  /** `ord_…`, sent to the provider as a reference. */
  readonly orderId: string;
  readonly amount: Money;
  readonly paymentMethod: string;
  /** When the charge row was written. The provider got no request earlier. */
  readonly since: Date;
  /** Minimum age of the charge row. */
  readonly ageMs: number;
  /** Starts at 1; incremented when a key became unusable without a charge. */
  readonly keyNumber: number;
  /** Minimum time since this key was found to be unusable; null while it is usable. */
  readonly keyUnusableForMs: number | null;
  /** `UnusableKey.customer` of the charge's first key. */
  readonly lookupCustomer: string | null;
}

export type ChargeOutcome =
  | { readonly status: 'succeeded'; readonly at: Date; readonly reference: string | null }
  /** @param reason the provider's code: `card_declined`, `insufficient_funds`, `amount_too_large` */
  | { readonly status: 'declined'; readonly reason: string; readonly reference: string | null };

/** The provider is processing the charge; the outcome follows later. */
export interface ChargeUnderWay {
  readonly status: 'under_way';
  readonly reference: string;
}

/**
 * The provider repeats an error of its own under this key. The outcome can only be found by a charge lookup,
 * after a delay.
 */
export interface UnusableKey {
  readonly status: 'key_spent';
  /** The provider's customer of the charge, for the lookup; null without a customer, or when unknown. */
  readonly customer: string | null;
}

/** The lookup found no charge of an unusable key. The next key may be used after its number is stored. */
export interface NotCharged {
  readonly status: 'nothing_charged';
}

/** A charge to refund in full, from its charge row. */
export interface RefundRequest extends Charge {
  /** The provider's id of the refund under way, once known. */
  readonly refundReference: string | null;
  /** Starts at 1; incremented when a refund failed. */
  readonly refundKeyNumber: number;
}

export type RefundOutcome =
  | { readonly status: 'refunded'; readonly reference: string | null }
  /** The provider is processing the refund, for seconds or days. It may still fail. */
  | { readonly status: 'under_way'; readonly reference: string }
  /** The refund failed for good. Another one follows under the next key. */
  | { readonly status: 'failed'; readonly reason: string };

/** A time range; the end is exclusive. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

/** A successful payment of ours at the provider. */
export interface ProviderPayment {
  readonly reference: string | null;
  /** The charge id in the provider's metadata; not necessarily a UUID. */
  readonly chargeId: string;
  /** Whether it was refunded in full. */
  readonly refunded: boolean;
}

/** A refund that failed for good. */
export interface FailedRefund {
  readonly reference: string;
  /** The provider's id of the payment. */
  readonly payment: string;
}

/** The provider gave no response, or none with the outcome of the charge. A retry may succeed. */
export class PaymentProviderUnavailable extends Error {
  override readonly name = 'PaymentProviderUnavailable';
}

/**
 * The provider rejects our key, account or request, as it would for every charge. The outcome of this charge
 * is unknown.
 */
export class PaymentProviderRejected extends Error {
  override readonly name = 'PaymentProviderRejected';

  constructor(
    readonly code: string,
    options?: ErrorOptions,
  ) {
    super(`The payment provider rejected our request: ${code}.`, options);
  }
}

/** The provider cannot use this payment method, or our key is wrong: it is not certain which. */
export class PaymentMethodUnusable extends Error {
  override readonly name = 'PaymentMethodUnusable';

  constructor(
    readonly code: string,
    options?: ErrorOptions,
  ) {
    super(`The payment provider cannot use the payment method: ${code}.`, options);
  }
}

/** The port to the payment provider. payment-gateway.spec.ts tests the contract of every implementation. */
export abstract class PaymentGateway {
  /** Checks our key at start. @throws PaymentProviderRejected, PaymentProviderUnavailable */
  abstract checkKey(): Promise<void>;
  /**
   * Charges once per key. A repeated request with the same key and amount returns the outcome of the first
   * one. For an unusable key it looks up the outcome of any of the charge's keys, without another request
   * under it.
   * @throws PaymentProviderUnavailable, PaymentProviderRejected, PaymentMethodUnusable, or another error when
   * the outcome is not known in time or the key was used for another charge
   */
  abstract charge(
    request: ChargeRequest,
    signal: AbortSignal,
  ): Promise<ChargeOutcome | ChargeUnderWay | UnusableKey | NotCharged>;
  /**
   * Refunds a charge in full, once: a repeated request, also under another key, returns the outcome of the
   * first one.
   * @throws when nothing was charged under the key, or the outcome is not known in time
   */
  abstract refund(request: RefundRequest, signal: AbortSignal): Promise<RefundOutcome>;
  /** Pages of our successful payments, by the time of their start. */
  abstract listPayments(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly ProviderPayment[]>;
  /** Whether the provider has a successful payment of the charge. */
  abstract hasPayment(charge: Charge, signal: AbortSignal): Promise<boolean>;
  /** Pages of failed refunds, by the time of their start. */
  abstract listFailedRefunds(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly FailedRefund[]>;
}
