import { type Currency, maxAmount, type OrderStatus, orderStatuses } from '@fulfilment/contracts';
import { type ErrorDetail } from '@fulfilment/error-envelope';

/** Allowed transitions of an order's status. It never returns to an earlier status. */
export const transitions = {
  pending: ['processing', 'payment_failed', 'cancelled'],
  processing: ['shipped', 'cancelled'],
  payment_failed: ['processing', 'cancelled'],
  shipped: ['delivered'],
  delivered: [],
  cancelled: [],
} as const satisfies Record<OrderStatus, readonly OrderStatus[]>;

export function canTransition(from: OrderStatus, to: OrderStatus): boolean {
  return transitions[from].some((status) => status === to);
}

/** Returns the statuses from which an order may change to the given status. */
export function statusesBefore(to: OrderStatus): OrderStatus[] {
  return orderStatuses.filter((from) => canTransition(from, to));
}

export type FulfilmentAction = 'ship' | 'correct_tracking' | 'deliver' | 'cancel';

/**
 * The statuses of an order in which a fulfilment event is applied, and in which it is deferred until the
 * payment is settled or an earlier event arrives. In any other status it is rejected. An order may have
 * several packages, and events may repeat, so an event may apply in a status that it does not change.
 */
export const statusesByAction: Readonly<
  Record<FulfilmentAction, Readonly<Record<'applied' | 'deferred', readonly OrderStatus[]>>>
> = {
  ship: { applied: [...statusesBefore('shipped'), 'shipped', 'delivered'], deferred: ['pending'] },
  correct_tracking: { applied: ['shipped', 'delivered'], deferred: ['pending', 'processing'] },
  deliver: { applied: [...statusesBefore('delivered'), 'delivered'], deferred: ['pending', 'processing'] },
  // Unlike a merchant's cancellation, a warehouse's cancellation waits for the payment.
  cancel: { applied: ['processing', 'payment_failed', 'cancelled'], deferred: ['pending'] },
};

/** Returns Σ price × quantity + shipping in minor units, or undefined if that exceeds `maxAmount`. */
export function sumWithShipping(
  lines: readonly { readonly price: number; readonly quantity: number }[],
  shippingAmount: number,
): number | undefined {
  let total = BigInt(shippingAmount);
  for (const { price, quantity } of lines) total += BigInt(price) * BigInt(quantity);
  return total > BigInt(maxAmount) ? undefined : Number(total);
}

export function countPieces(lines: readonly { readonly quantity: number }[]): number {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0);
}

/** Returns an error detail for each line in another currency. */
export function currencyMismatchDetails(
  items: readonly { readonly unit_price?: { readonly currency: Currency } }[],
  currency: Currency,
): ErrorDetail[] {
  return items.flatMap(({ unit_price: price }, index) =>
    price === undefined || price.currency === currency
      ? []
      : [
          {
            field: `items.${index}.unit_price.currency`,
            reason: `must be ${currency}, the currency of the shipping rate`,
          },
        ],
  );
}
