import type { Money } from '@fulfilment/contracts';

/** One attempt at charging an order, as its charge row has it. */
export interface Charge {
  /** The charge row's id: its first key. The provider charges once for one key, however often it is asked. */
  readonly idempotencyKey: string;
  /** What the provider calls this charge, once it has said so. */
  readonly reference: string | null;
}

export interface ChargeRequest extends Charge {
  /** `ord_…`: what the provider is told of the order. */
  readonly orderId: string;
  readonly amount: Money;
  readonly paymentMethod: string;
  /** When the charge row was written: no provider was asked earlier. */
  readonly since: Date;
  /** How long ago that was, at least. */
  readonly ageMs: number;
  /** 1, and one more each time a key was spent with nothing charged. */
  readonly keyNumber: number;
  /** How long ago, at least, the key of this number was found to be spent; null while it may be asked under. */
  readonly keySpentForMs: number | null;
  /** `KeySpent.customer` of the charge's first key. */
  readonly spentCustomer: string | null;
}

export type ChargeOutcome =
  | { readonly status: 'succeeded'; readonly at: Date; readonly reference: string | null }
  /** @param reason the provider's word for it: `card_declined`, `insufficient_funds`, `amount_too_large` */
  | { readonly status: 'declined'; readonly reason: string; readonly reference: string | null };

/** The provider has the charge in hand and will know its outcome later. */
export interface ChargeUnderWay {
  readonly status: 'under_way';
  readonly reference: string;
}

/** The provider answers this key with an error of its own, for good: what it did, only its books tell, and not at once. */
export interface KeySpent {
  readonly status: 'key_spent';
  /** Under whom the provider's books have what came of it; null: under nobody, or it is not known. */
  readonly customer: string | null;
}

/** By the provider's books nothing came of a spent key: the next one may be used, once its number is written down. */
export interface NothingCharged {
  readonly status: 'nothing_charged';
}

/** A charge of which all is owed back, as its charge row has it. */
export interface RefundRequest extends Charge {
  /** What the provider calls the refund that is under way, once it has said so. */
  readonly refundReference: string | null;
  /** 1, and one more each time a refund failed. */
  readonly refundKeyNumber: number;
}

export type RefundOutcome =
  | { readonly status: 'refunded'; readonly reference: string | null }
  /** The provider has it in hand, for seconds or days, and may still fail. */
  | { readonly status: 'under_way'; readonly reference: string }
  /** This one gives nothing back any more: another is asked for under the next key. */
  | { readonly status: 'failed'; readonly reason: string };

/** A time range, the end not included. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

/** A payment of ours that the provider took. */
export interface ProviderPayment {
  readonly reference: string | null;
  /** The charge it was asked for by, as the provider has it: not necessarily a UUID. */
  readonly chargeId: string;
  /** All of it was given back. */
  readonly refunded: boolean;
}

/** A refund that gave nothing back in the end. */
export interface FailedRefund {
  readonly reference: string;
  /** The provider's name of the payment. */
  readonly payment: string;
}

/** The provider gave no response, or none that says what became of the charge. It may next time. */
export class PaymentProviderUnavailable extends Error {
  override readonly name = 'PaymentProviderUnavailable';
}

/** The provider rejects our key, our account or our request: every charge would meet the same. Nothing is known of this one. */
export class PaymentProviderRejected extends Error {
  override readonly name = 'PaymentProviderRejected';

  constructor(
    readonly code: string,
    options?: ErrorOptions,
  ) {
    super(`The payment provider rejects our requests: ${code}.`, options);
  }
}

/** The provider cannot use this payment method, and it is not certain that our key is the right one. */
export class PaymentMethodUnusable extends Error {
  override readonly name = 'PaymentMethodUnusable';

  constructor(
    readonly code: string,
    options?: ErrorOptions,
  ) {
    super(`The payment provider cannot use the payment method: ${code}.`, options);
  }
}

/** The payment provider, as the orders see it. What every one of them promises stands in payment-gateway.spec.ts. */
export abstract class PaymentGateway {
  /** Whether the provider takes our key, for the log at start. @throws PaymentProviderRejected, PaymentProviderUnavailable */
  abstract checkKey(): Promise<void>;
  /**
   * Charges once for the key. Asked again, with the same key and the same amount, it tells what became of it. Of a spent key it
   * tells what came of any of the charge's keys, and never asks under it again.
   * @throws PaymentProviderUnavailable, PaymentProviderRejected, PaymentMethodUnusable, or another error when the outcome cannot be
   * known in time or the key stands for another charge
   */
  abstract charge(
    request: ChargeRequest,
    signal: AbortSignal,
  ): Promise<ChargeOutcome | ChargeUnderWay | KeySpent | NothingCharged>;
  /**
   * Gives all of a charge back, once: a second time, also under another key, tells what became of it.
   * @throws when nothing was charged under the key, or it cannot be known in time what became of it
   */
  abstract refund(request: RefundRequest, signal: AbortSignal): Promise<RefundOutcome>;
  /** Pages of what the provider took of ours, by when it was begun. */
  abstract listPayments(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly ProviderPayment[]>;
  /** Whether the provider took the money of a charge. */
  abstract hasPayment(charge: Charge, signal: AbortSignal): Promise<boolean>;
  /** Pages of refunds that have failed, by when they were made. */
  abstract listFailedRefunds(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly FailedRefund[]>;
}
